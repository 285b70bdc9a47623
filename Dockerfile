# An image with Node 20.19 or newer and npm, and one of the same system without them.
ARG BUILD_BASE=docker.io/library/node:22-bookworm-slim
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BUILD_BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# Scripts of packages are not needed: native code comes ready-made in them.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build:all && npm prune --omit=dev --ignore-scripts
# More than half of the packages' bytes are for other machines, compilers and debuggers.
RUN cd node_modules && rm -rf @photostructure/sqlite/src \
  && find @photostructure/sqlite/prebuilds -mindepth 1 -maxdepth 1 ! -name "linux-$(node -p process.arch)" -exec rm -r {} + \
  && find . -type f \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' \) -delete

FROM ${BASE}
# Node alone: the server needs no npm.
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=build /src/package.json /src/LICENSE /src/CHANGELOG.md /src/openapi.json ./
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/dist dist
# The only folder that is written to. Docker gives a new volume its owner and mode.
RUN mkdir -m 0700 /data && chown 10001:10001 /data
USER 10001:10001
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4040 TRUNKLINE_DATA=/data
VOLUME /data
EXPOSE 4040
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=40s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node is the first process: it handles SIGTERM from the start on, and starts no processes that would need reaping.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve", "--json"]
