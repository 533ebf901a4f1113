FROM node:24-trixie-slim AS build
WORKDIR /data
WORKDIR /app
COPY package.json package-lock.json ./
# Node reads neither source maps nor type declarations. They are two fifths of the packages.
RUN npm ci --omit=dev --omit=optional \
  && find node_modules -type f '(' -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' ')' -delete

# Node and the libraries that it needs: no shell and no npm.
FROM gcr.io/distroless/nodejs24-debian13:nonroot
WORKDIR /app
# A new volume gets the owner of this directory.
COPY --from=build --chown=65532:65532 /data /data
COPY --from=build /app/node_modules node_modules
COPY package.json ./
COPY src src
USER 65532:65532
ENV NODE_ENV=production HOST=0.0.0.0 STATE_FILE=/data/waybill.sqlite
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --start-interval=1s \
  CMD ["/nodejs/bin/node", "--eval", "fetch('http://127.0.0.1:' + (process.env.PORT || 4000) + '/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The flags of `npm start`: docs/design/how-it-stays-fast.md#v8-flags.
ENTRYPOINT ["/nodejs/bin/node", "--v8-pool-size=1", "--no-allocation-site-pretenuring", "--heap-growing-percent=150"]
CMD ["src/start.cjs"]
