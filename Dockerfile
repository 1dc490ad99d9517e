# The program as a server: static, not root, nothing else but certificates and a shell. `compose.yaml` shows how to run it.
FROM rust:1.96-alpine AS build
RUN apk add --no-cache g++ make musl-dev
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p spelunk && strip target/release/spelunk

FROM alpine:3.22
COPY --from=build /source/target/release/spelunk /usr/local/bin/spelunk
RUN adduser -D -u 10001 spelunk && mkdir /data /texts && chown spelunk /data
USER spelunk
WORKDIR /data
EXPOSE 7766
HEALTHCHECK --interval=30s --timeout=3s CMD wget -q -O /dev/null http://127.0.0.1:7766/healthz
ENTRYPOINT ["spelunk"]
CMD ["serve", "--listen", "0.0.0.0:7766", "--token-file", "/data/tokens", "--root", "/texts"]
