//! Disks that fail, are full, or are tampered with.

mod full_disk;
mod syscalls;
mod tamper;
