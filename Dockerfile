# The three programs in one small image: log-server by default, anchor and verifier beside it.

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# The image's compiler is the pinned one. Naming it keeps rustup from fetching the components that
# rust-toolchain.toml lists for developers.
RUN RUSTUP_TOOLCHAIN="$(rustup show active-toolchain | cut -d ' ' -f 1)" \
    cargo build --release --locked --bin log-server --bin anchor --bin verifier

FROM debian:bookworm-slim
# Roots for the client's TLS; the server opens no connections.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin anchorlog \
    && install --directory --owner anchorlog --mode 0700 /data
COPY --from=build /src/target/release/log-server /src/target/release/anchor /src/target/release/verifier /usr/local/bin/
COPY LICENSE-APACHE LICENSE-MIT /usr/share/doc/anchorlog/

USER anchorlog
WORKDIR /data
VOLUME /data
# The log is a folder of its own within the volume, whose top some file systems give a lost+found.
ENV ANCHORLOG_LOG_DATA=/data/log \
    ANCHORLOG_LOG_LISTEN=0.0.0.0:7390 \
    ANCHORLOG_TELEMETRY_LOG_FORMAT=json \
    ANCHORLOG_STATE=/data/state
EXPOSE 7390
STOPSIGNAL SIGTERM
# No curl in the image: bash can speak enough HTTP.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7390 && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["log-server"]
CMD ["serve"]
