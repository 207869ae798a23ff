# The program in a container:
#   docker build -t linkproof .
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/data" linkproof fit --links links.csv --features x.npy --robust --out model
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --locked --release -p linkproof-cli

FROM debian:bookworm-slim
COPY --from=build /source/target/release/linkproof /usr/local/bin/linkproof
WORKDIR /data
ENTRYPOINT ["linkproof"]
