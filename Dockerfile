# The program as a server: static, not root, nothing else but certificates and a `wget` for the health check. `compose.yaml`
# shows how to run it.
FROM rust:1.96-alpine AS build
# hadolint ignore=DL3018 # The image pins the release of the distribution.
RUN apk add --no-cache busybox-static ca-certificates g++ make musl-dev
WORKDIR /image
# The program is all that is called by its path; busybox does what its name says.
RUN mkdir -p bin data etc/ssl/certs texts tmp && \
    cp /bin/busybox.static bin/wget && cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p spelunk && strip -o /image/bin/spelunk target/release/spelunk

FROM scratch
COPY --from=build --chown=10001:10001 /image /
ENV HOME=/data PATH=/bin
USER 10001
WORKDIR /data
EXPOSE 7766
HEALTHCHECK --interval=30s --timeout=3s CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:7766/healthz"]
ENTRYPOINT ["spelunk"]
CMD ["serve", "--listen", "0.0.0.0:7766", "--token-file", "/data/tokens", "--root", "/texts"]
