/**
 * Fake catalogs to install skills from, on loopback, with the response shapes they document (E23–E27).
 *
 *     const github = await startGithub({
 *         repos: { 'acme/skills': { defaultBranch: 'trunk', branches: { trunk: { 'skills/a/SKILL.md': '…' } } } }
 *     });
 *     const sources = createSources({ ...playedConfig({ github }), skillsmpKey: () => null });
 *     github.repos['acme/skills'].branches.trunk['skills/a/SKILL.md'] = 'changed'; // what an update finds
 *     github.api.intercept = () => rateLimited(new Date('2031-01-01')); // or failing(), htmlPage(), 'hang', undefined
 *     await github.close();
 */
import type { CatalogConfig } from '../../src/lib/server/config.ts';
import type { PlayedSkillsmp, PlayedSkillssh, PlayedWellKnown } from './catalog/played-catalogs.ts';
import type { PlayedGithub } from './catalog/played-github.ts';

export * from './catalog/played-catalogs.ts';
export * from './catalog/played-github.ts';
export { failing, htmlPage, json, rateLimited, redirectTo } from './catalog/played-server.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

interface Played {
	github?: PlayedGithub;
	skillssh?: PlayedSkillssh;
	skillsmp?: PlayedSkillsmp;
	wellKnown?: PlayedWellKnown;
}

/** `config.catalog` pointing only at these servers; catalogs without one get `NOWHERE`. */
export function playedConfig({ github, skillssh, skillsmp, wellKnown }: Played): CatalogConfig {
	return {
		provider: 'skillsmp',
		skillsmpApiKey: skillsmp?.key ?? null,
		catalogRequests: true,
		githubToken: null,
		githubApiUrl: github?.apiUrl ?? NOWHERE,
		githubRawUrl: github?.rawUrl ?? NOWHERE,
		skillsshUrl: skillssh?.url ?? NOWHERE,
		skillsshAuditUrl: skillssh?.url ?? NOWHERE,
		skillsmpUrl: skillsmp?.url ?? NOWHERE,
		hosts: [
			...(github?.hosts ?? []),
			...[skillssh, skillsmp, wellKnown].flatMap((server) => server?.host ?? []),
			'127.0.0.1:9'
		]
	};
}

/** The same as environment variables, for a separate server process. */
export function playedEnvironment(played: Played): Record<string, string> {
	const config = playedConfig(played);
	return {
		GITHUB_API_URL: config.githubApiUrl,
		GITHUB_RAW_URL: config.githubRawUrl,
		SKILLSSH_URL: config.skillsshUrl,
		SKILLSSH_AUDIT_URL: config.skillsshAuditUrl,
		SKILLSMP_URL: config.skillsmpUrl,
		...(config.skillsmpApiKey === null ? {} : { SKILLSMP_API_KEY: config.skillsmpApiKey }),
		SKILLS_INSTALL_HOSTS: played.wellKnown?.host ?? ''
	};
}
