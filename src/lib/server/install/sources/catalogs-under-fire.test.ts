import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../../../../../tests/support/folder.ts';
import {
	playedConfig,
	startGithub,
	startSkillsmp,
	startSkillssh,
	startWellKnown,
	type PlayedGithub,
	type PlayedSkillsmp,
	type PlayedSkillssh,
	type PlayedWellKnown
} from '../../../../../tests/support/catalog-servers.ts';
import type { PlayedServer } from '../../../../../tests/support/catalog/played-server.ts';
import { AppError } from '../../../shared/errors.ts';
import type { InstallSource } from '../../../shared/install.ts';
import { skillText } from '../catalog-rig.suite.ts';
import { createSources } from './sources.ts';
import { createStagingFolder } from '../staging-folder.ts';

let github: PlayedGithub;
let skillssh: PlayedSkillssh;
let skillsmp: PlayedSkillsmp;
let site: PlayedWellKnown;
const dir = sharedFolder();

beforeAll(async () => {
	const main = { 'skills/a/SKILL.md': skillText('a'), 'skills/a/b.txt': 'b', 'skills/c/SKILL.md': skillText('c') };
	github = await startGithub({ repos: { 'acme/skills': { defaultBranch: 'main', branches: { main } } } });
	skillssh = await startSkillssh({
		skills: [{ skillId: 'a', name: 'a', installs: 1, source: 'acme/skills' }],
		audits: { 'acme/skills': { a: { ath: { risk: 'safe' } } } }
	});
	const githubUrl = 'https://github.com/acme/skills/tree/main/skills/a';
	skillsmp = await startSkillsmp({
		skills: [{ id: 'a', name: 'a', author: 'acme', description: 'A.', githubUrl, stars: 1 }]
	});
	site = await startWellKnown({ skills: { a: { text: skillText('a') } } });
});

afterAll(async () => {
	await Promise.all([github, skillssh, skillsmp, site].map((server) => server.close()));
});

/** Sends every kind of request in turn; returns the results by name. */
async function askAll(): Promise<unknown[]> {
	const options = { ...playedConfig({ github, skillssh, skillsmp, wellKnown: site }), skillsmpKey: () => skillsmp.key };
	const sources = createSources(options);
	const { signal } = new AbortController();
	const given: InstallSource[] = [
		{ type: 'github', repository: 'acme/skills' },
		{ type: 'github', repository: 'https://github.com/acme/skills/tree/main/skills/a' },
		{ type: 'skillssh', source: 'acme/skills', skillId: 'a' },
		{ type: 'well-known', url: site.url }
	];
	const asked = given.map((source) => async () => {
		const staging = await createStagingFolder(dir);
		try {
			const fetched = await sources.fetch(source, staging, signal);
			for (const folder of fetched.folders ?? []) await sources.revisionOf(fetched.originOf(folder), signal);
		} finally {
			await staging.remove();
		}
	});
	asked.push(async () => void (await sources.searchSkillsmp({ q: 'a', page: 1, limit: 20 }, signal)));
	asked.push(async () => void (await sources.searchSkillssh({ q: 'aa', limit: 20 }, signal)));
	const outcomes: unknown[] = [];
	for (const ask of asked)
		outcomes.push(
			await ask().then(
				() => 'done',
				(error: unknown) => error
			)
		);
	return outcomes;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The same value with one part replaced; `at` picks which. */
function replaceOne(value: Json, at: number, by: Json): Json {
	let left = at;
	const visit = (each: Json): Json => {
		left -= 1;
		if (left < 0 && left >= -1) return by;
		if (Array.isArray(each)) return each.map(visit);
		if (each === null || typeof each !== 'object') return each;
		return Object.fromEntries(Object.entries(each).map(([key, below]) => [key, visit(below)]));
	};
	return visit(value);
}

describe('E9, E23, E26, E27: catalogs under fire', () => {
	it('whatever one value of one answer is, what comes of it is a skill or an error for people', async () => {
		expect(await askAll()).toEqual(Array.from({ length: 6 }, () => 'done'));
		const servers: PlayedServer[] = [github.api, skillssh, skillsmp, site];
		const answers: { server: PlayedServer; path: string; body: Json }[] = [];
		for (const server of servers) {
			const asked = new Map(server.requests.map((request) => [request.path, request]));
			for (const [path, { headers }] of asked) {
				const { authorization = '' } = headers;
				const response = await fetch(server.url + path, { headers: authorization ? { authorization } : {} });
				if (!response.headers.get('content-type')?.includes('json')) continue;
				answers.push({ server, path, body: (await response.json()) as Json });
			}
		}
		const evil = fc.constantFrom<Json>('../../x', '/etc/passwd', 'file:///etc/passwd', '', -1, 1e308, null, [], {});
		const value = fc.oneof(evil, fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>);
		const change = fc.tuple(fc.constantFrom(...answers), fc.nat(40), value);
		await fc.assert(
			fc.asyncProperty(change, async ([{ server, path, body }, at, by]) => {
				const changed = replaceOne(body, at, by);
				server.intercept = (request) => (request.path === path ? { body: JSON.stringify(changed) } : undefined);
				const outcomes = await askAll();
				server.intercept = null;
				expect(outcomes.filter((outcome) => outcome !== 'done' && !(outcome instanceof AppError))).toEqual([]);
			}),
			{ numRuns: 25 }
		);
	});
});
