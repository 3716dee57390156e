# The programs of Hera in one image: hera-master, hera-worker, hera.
#
#   docker build -t hera .
#   docker run --rm hera hera-master --help
#
# Both images below can be replaced, for a registry of one's own:
#   docker build --build-arg BUILDER=my/rust --build-arg BASE=my/debian -t hera .
ARG BUILDER=rust:1.95-bookworm
ARG BASE=debian:bookworm-slim

FROM ${BUILDER} AS build
WORKDIR /src
COPY . .
# The three packages only: their programs are all that cargo puts into target/release then.
RUN cargo build --release --locked --bins -p hera-master -p hera-worker -p hera-cli \
 && mkdir /out \
 && find target/release -maxdepth 1 -type f -perm /111 -name 'hera*' -exec cp {} /out/ \;

FROM ${BASE}
# bash and python3 run the scripts of jobs, the certificates are for what scripts call.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash ca-certificates python3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --user-group --home-dir /var/lib/hera --create-home hera
COPY --from=build /out/ /usr/local/bin/
USER hera
WORKDIR /var/lib/hera
VOLUME /var/lib/hera
EXPOSE 9887
# Of a master. A worker has no port: give it a check of its own, as docker-compose.yml does. Bash alone
# asks, so that the image needs no curl.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9887 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
CMD ["hera", "--help"]
