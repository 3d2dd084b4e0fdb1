/** docs/operations.md, the image and the examples in deploy/: what they name is there, and their numbers fit together. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Meter } from '@opentelemetry/api';
import { CORE_SCHEMA, load, loadAll, mergeTag } from 'js-yaml';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/lib/server/config.ts';
import { createMeters } from '../../src/lib/server/telemetry/meters.ts';
import { variables } from '../../src/lib/server/variables.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const SETTINGS: ReadonlySet<string> = new Set(Object.keys(variables.shape));
/** What a server still does after its running answers had their time (END_MS in server.js). */
const END_SECONDS = 5;

interface Service {
	image: string;
	command?: string[];
	environment: Record<string, string>;
	stop_grace_period?: string;
	depends_on?: Record<string, unknown>;
	volumes: string[];
	networks?: string[];
	ports?: string[];
	mem_limit?: string;
	pids_limit?: number;
	logging?: { options: Record<string, string> };
	security_opt?: string[];
}
const compose = load(read('deploy/compose.yaml'), { schema: CORE_SCHEMA.withTags(mergeTag) }) as {
	services: Record<string, Service>;
	volumes: object;
	networks: Record<string, { internal?: boolean } | null>;
};
const service = (name: string): Service => compose.services[name] ?? expect.fail(`compose.yaml has no ${name}`);
const servers = Object.keys(compose.services).filter((name) => name.startsWith('app-'));
/** From `NAME=value` lines, also those that are switched off. */
const example = [...read('deploy/.env.example').matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$/gm)];
const given = (text: string) =>
	text.replaceAll(/\$\{(\w+):?[-?]?[^}]*\}/g, (_, name: string) => `some-secret-for-${name}`);

interface Deployment {
	kind: string;
	spec: {
		selector: unknown;
		podSelector?: unknown;
		template: {
			spec: {
				terminationGracePeriodSeconds: number;
				automountServiceAccountToken?: boolean;
				volumes: { name: string; emptyDir?: { sizeLimit?: string } }[];
				containers: { env: { name: string; value: string }[]; args?: string[]; [probe: string]: unknown }[];
			};
		};
	};
}
const manifests = loadAll(read('deploy/kubernetes.yaml')) as Deployment[];
const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
const pods = deployments.map(({ spec }) => spec.template.spec);
const containers = pods.flatMap((each) => each.containers);
const [container = expect.fail('kubernetes.yaml has no container')] = containers;

test('every setting that the page, the image and the examples name is one', () => {
	const page = [...read('docs/operations.md').matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:=[^`]*)?`/g)].map(
		([, name]) => name
	);
	const flags = [...read('docs/operations.md').matchAll(/-e ([A-Z_]+)=/g)].map(([, name]) => name);
	const image = [...read('Dockerfile').matchAll(/\b([A-Z_]+)=/g)].map(([, name]) => name);
	const composed = ['worker', ...servers].flatMap((name) => Object.keys(service(name).environment));
	const kubernetes = containers.flatMap(({ env }) => env.map(({ name }) => name));
	const named = [...page, ...flags, ...image, ...composed, ...kubernetes, ...example.map(([, name]) => name)];
	const own = ['NODE_ENV', 'BASE', 'SITE', 'POSTGRES_PASSWORD', 'S3_SECRET', 'WORKER_MEMORY'];
	const known = new Set([...SETTINGS, ...own, 'APP_2_VOLUME', 'WORKER_VOLUME']);
	expect([...new Set(named)].filter((name) => name && !known.has(name))).toEqual([]);
	expect(named.length).toBeGreaterThan(30);
});

const site = { PUBLIC_ORIGIN: 'http://localhost' };

test('what compose.yaml takes from .env is in the example, and the servers start with it', () => {
	const wanted = [...read('deploy/compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
	expect(example.map(([, name]) => name)).toEqual(expect.arrayContaining([...new Set(wanted)]));
	for (const name of ['worker', ...servers]) {
		const environment = Object.entries(service(name).environment).map(([key, value]) => [
			key,
			key === 'S3_URL' ? '' : given(value)
		]);
		const config = () => loadConfig({ ...Object.fromEntries(environment), ...(name === 'worker' ? {} : site) });
		expect(config, name).not.toThrow();
	}
});

test('the servers and the worker of compose.yaml share a volume, and have one each with what the example sets for a bucket', () => {
	const set = new Map(example.map(([, name = '', value = '']) => [name, value]));
	const volumesWith = (values: ReadonlyMap<string, string>) =>
		['worker', ...servers].map((name) => {
			const [volume = ''] = service(name).volumes;
			const filled = volume.replace(/\$\{(\w+):-(\w+)\}/, (_, key: string, usual: string) => values.get(key) ?? usual);
			return filled.replace(/:\/data$/, '');
		});
	expect(new Set(volumesWith(new Map()))).toEqual(new Set(['data']));
	const own = volumesWith(set);
	expect(new Set(own).size).toBe(own.length);
	expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(own));
});

test('no service of compose.yaml can take all of the machine, gain rights, or be reached by others than it must', () => {
	for (const [name, each] of Object.entries(compose.services)) {
		expect(each.mem_limit, name).toBeTruthy();
		expect(each.pids_limit, name).toBeGreaterThan(0);
		expect(each.logging?.options['max-size'], name).toBeTruthy();
		expect(
			each.security_opt?.some((option) => option.startsWith('no-new-privileges')),
			name
		).toBe(true);
	}
	const published = Object.keys(compose.services).filter((name) => service(name).ports);
	expect(published).toEqual(['balancer']);
	const reaches = (one: string, other: string) =>
		service(one).networks?.some((network) => service(other).networks?.includes(network)) ?? true;
	for (const stored of ['postgres', 's3']) {
		expect(reaches('balancer', stored)).toBe(false);
		for (const name of ['worker', ...servers]) expect(reaches(name, stored)).toBe(true);
		for (const network of service(stored).networks ?? []) expect(compose.networks[network]?.internal).toBe(true);
	}
	for (const name of servers) expect([reaches('balancer', name), reaches('worker', 'balancer')]).toEqual([true, false]);
	expect(read('deploy/compose.yaml')).not.toMatch(
		/\$\{(ADMIN_TOKEN|SECRETS_KEY|POSTGRES_PASSWORD|PUBLIC_ORIGIN|SITE)(:-[^}]*)?\}/
	);
});

test('pods get no token of the cluster, can’t fill its disks, and are reached by those who must', () => {
	for (const { automountServiceAccountToken, volumes } of pods) {
		expect(automountServiceAccountToken).toBe(false);
		for (const { emptyDir, name } of volumes) if (emptyDir) expect(emptyDir.sizeLimit, name).toBeTruthy();
	}
	const selected = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec.podSelector);
	expect(selected).toEqual(deployments.map(({ spec }) => spec.selector));
});

test('where servers of kubernetes.yaml leave scripts to workers, there is one', () => {
	expect(container.env).toContainEqual({ name: 'SKILLS_RUN_ON', value: 'workers' });
	expect(containers.filter(({ args }) => args?.includes('worker'))).toHaveLength(1);
});

test('both balancers and compose.yaml name the same servers', () => {
	expect(servers.length).toBeGreaterThan(1);
	const hosts = servers.map((name) => `${name}:3000`);
	for (const [, list = ''] of read('deploy/Caddyfile').matchAll(/\{\$SERVERS:(.*?)\}/g))
		expect(list.split(' ')).toEqual(hosts);
	for (const [, block = ''] of read('deploy/nginx.conf').matchAll(/upstream \w+ \{(.*?)\}/gs))
		expect([...block.matchAll(/server (\S+)/g)].map(([, host]) => host)).toEqual(hosts);
	expect(Object.keys(service('balancer').depends_on ?? {})).toEqual(servers);
});

test('whoever stops a server gives it the time that its settings promise', () => {
	const seconds = (settings: Record<string, string | undefined>) =>
		(Number(settings.SHUTDOWN_DELAY_MS ?? 0) + Number(settings.SHUTDOWN_TIMEOUT_MS)) / 1000 + END_SECONDS;
	for (const name of servers)
		expect(Number.parseInt(service(name).stop_grace_period ?? '')).toBeGreaterThan(seconds(service(name).environment));
	for (const { terminationGracePeriodSeconds, containers } of pods) {
		const env = Object.fromEntries(containers.flatMap((each) => each.env.map(({ name, value }) => [name, value])));
		expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds(env));
	}
	// Docker's own, without --stop-timeout.
	const image = /SHUTDOWN_TIMEOUT_MS=(\d+)/.exec(read('Dockerfile'))?.[1];
	expect(10).toBeGreaterThanOrEqual(seconds({ SHUTDOWN_TIMEOUT_MS: image }));
	expect(read('server.js')).toContain(`const END_MS = ${END_SECONDS}_000;`);
});

test('the probes ask addresses that are there', () => {
	for (const each of containers) {
		const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map(
			(name) => each[name] as { httpGet: { path: string } }
		);
		expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(['/health', '/health', '/ready']);
	}
	expect(read('deploy/Caddyfile')).toContain('health_uri /ready');
	expect(read('Dockerfile')).toMatch(/HEALTHCHECK[^]*\/health`/);
});

test('the image gets all that the package has', () => {
	const { files } = JSON.parse(read('package.json')) as { files: string[] };
	const made = ['build', 'dist'];
	const allowed = read('.dockerignore').split('\n');
	for (const file of files.filter((name) => !name.startsWith('!') && !made.includes(name))) {
		const [top = ''] = file.split('/');
		expect(
			allowed.some((line) => line === `!${file}` || line === `!${top}`),
			file
		).toBe(true);
	}
});

test('the page has every metric, and no others', () => {
	const rows = read('docs/operations.md').matchAll(/^\| (`[a-z][^|]*) \| .* \| .*\|$/gm);
	const named = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
	expect(named.toSorted()).toEqual(metricNames().toSorted());
	const alerts = [
		...read('docs/operations.md').matchAll(/`[^`]*?\b((?:openrouter_skills|gen_ai|http_server|nodejs|process)_\w+)/g)
	];
	const isKnown = (name: string) => named.includes(name.replace(/_(count|sum|bucket)$/, ''));
	expect(alerts.map(([, name = '']) => name).filter((name) => !isKnown(name))).toEqual([]);
});

/** As Prometheus gets them, without units. */
function metricNames(): string[] {
	const names: string[] = [];
	const instrument = (suffix: string) => (name: string) => {
		names.push(`${name.replaceAll('.', '_')}${suffix}`);
		return { add() {}, record() {}, addCallback() {} };
	};
	const meter = {
		createHistogram: instrument(''),
		createGauge: instrument(''),
		createObservableGauge: instrument(''),
		createUpDownCounter: instrument(''),
		createCounter: instrument('_total'),
		createObservableCounter: instrument('_total'),
		addBatchObservableCallback() {}
	};
	const meters = createMeters(meter as unknown as Meter, {
		queuedMessages: async () => 0,
		executions: () => ({ waiting: 0, running: 0 }),
		evals: () => ({ waiting: 0, running: 0 }),
		workers: async () => null
	});
	// Made with the first one.
	meters.leases('renewed', 1);
	meters.close();
	return names;
}
