# dbdyno as a client and for CI: it reaches servers by URL, and downloads servers of its own.
#
#   docker build -t dbdyno .
#   docker run --rm --network host dbdyno compare mysql://… mysql://… --load read-only
#
# Results are in the volume: keep it, or stored runs are gone with the container.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p dbdyno && strip target/release/dbdyno

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates libaio1 libncurses6 libnuma1 xz-utils \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/target/release/dbdyno /usr/local/bin/dbdyno
VOLUME /var/lib/dbdyno
ENTRYPOINT ["dbdyno"]
