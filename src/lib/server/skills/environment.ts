/** The environment of a script: built, never filtered, so that no secret of the server is in it by accident (FEATURES D14). */
import { declaredVariables } from './declared-variables.ts';
import type { Skill } from './types.ts';

/** Taken from the host as they are; none of them carries a secret or changes how a program starts. */
const FROM_HOST = ['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'] as const;

/** Secrets of the server, and variables by which a host would decide what a script runs. */
const NEVER_INHERITED =
	/^(OPENROUTER_|DATABASE_URL$|ADMIN_TOKEN$|SECRETS_KEY$|NODE_|npm_|LD_|DYLD_|PYTHON|BASH_ENV$|BASH_FUNC|ENV$|SHELLOPTS$|PS4$|HOME$)/i;

export interface EnvironmentOptions {
	skill: Skill;
	/** The skill's folder and the working folder, as the process sees them. */
	folders: { skill: string; workspace: string };
	/** Instead of the host's PATH. */
	path?: string;
	/** The host's environment. */
	host: Readonly<Record<string, string | undefined>>;
	/** Variables that the operator offers to the skills that declare them. */
	offered: Readonly<Record<string, string>>;
	/** Everything of the host but what is the server's own or changes how a program starts; for programs written for S0. */
	inherit?: boolean;
}

/** Builds the whole environment of one process. */
export function buildEnvironment({
	skill,
	folders,
	path,
	host,
	offered,
	inherit = false
}: EnvironmentOptions): Record<string, string> {
	const environment: Record<string, string> = { LANG: 'C.UTF-8' };
	const inherited = inherit ? Object.keys(host).filter((name) => !NEVER_INHERITED.test(name)) : [];
	for (const name of [...FROM_HOST, ...inherited]) {
		const value = host[name];
		if (value) environment[name] = value;
	}
	for (const { name } of declaredVariables(skill)) {
		const value = Object.hasOwn(offered, name) ? offered[name] : undefined;
		if (value !== undefined) environment[name] = value;
	}
	if (path !== undefined) environment.PATH = path;
	return {
		...environment,
		HOME: folders.workspace,
		SKILL_DIR: folders.skill,
		CLAUDE_SKILL_DIR: folders.skill,
		PYTHONPATH: folders.skill,
		// Output must be seen as it is written, and a skill's folder must not change by being used.
		PYTHONUNBUFFERED: '1',
		PYTHONDONTWRITEBYTECODE: '1',
		PYTHONIOENCODING: 'utf-8'
	};
}
