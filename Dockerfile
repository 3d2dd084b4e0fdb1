# The app in a container: docker build -t openrouter-skills . — docs/operations.md says how to run it.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# The package that npm users get, with the versions of the lock file. Node is there already.
RUN npm pack --pack-destination /tmp \
	&& mkdir /app && tar -xzf /tmp/openrouter-skills-*.tgz -C /app --strip-components=1 \
	&& cp package-lock.json /app \
	&& npm ci --prefix /app --ignore-scripts --omit=dev --omit=optional \
	&& rm /app/package-lock.json \
	&& chmod 755 /app/dist/bin/openrouter-skills.js

FROM ${BASE}
# For scripts: Python with pip's installer, and the sandbox. tini ends what scripts leave behind.
RUN apt-get update \
	&& apt-get install -y --no-install-recommends bubblewrap ca-certificates python3 python3-venv tini \
	&& rm -rf /var/lib/apt/lists/* \
	&& install -d -o 1000 -g 1000 -m 700 /data /data/app
COPY --from=build /app /app
RUN ln -s /app/dist/bin/openrouter-skills.js /usr/local/bin/openrouter-skills
# A folder in the volume: a backup can be beside it, and restoring makes it anew.
# Others reach it, so it doesn't start without ADMIN_TOKEN. `docker stop` kills after 10 seconds: answers have half of it.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data/app SHUTDOWN_TIMEOUT_MS=5000
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
	CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "openrouter-skills"]
