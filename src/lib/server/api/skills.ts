/** The registry of skills: list, details, executions, cases, evals (FEATURES E2, E3, E10–E13, F1, F6, F16). */
import {
	adHocExecution,
	caseStart,
	evalStart,
	executionExportQuery,
	executionQuery,
	skillCase
} from '../../shared/try-out.ts';
import { newSkill, skillCheckRequest, skillFileQuery, skillFileWrite } from '../../shared/skill-files.ts';
import { diagnosisFix, scoreRequest, secretsPatch, skillPatch, skillQuery } from '../../shared/skills.ts';
import { pageQuery } from '../../shared/api.ts';
import { DONE, events, ok, type Operation } from './operation.ts';

const SKILLS = '/api/skills';
const ONE = `${SKILLS}/{id}`;
const EXECUTIONS = `${SKILLS}/executions`;

const APPROVE =
	'What somebody would be asked about in a chat is refused with 403 and `details: {error, digest}`. Whoever manages the ' +
	'server allows it this once by sending the same body with `approve`: that digest. A key runs it only with the scope ' +
	'`approve`, and nobody what is not trusted.';

const registry: Operation[] = [
	{
		id: 'listSkills',
		method: 'get',
		path: SKILLS,
		tag: 'Skills',
		summary: 'Lists and searches skills',
		description: 'Every word of `q` must be in the name, the description or the tags.',
		query: [skillQuery, pageQuery],
		success: ok('A page of them.')
	},
	{
		id: 'createSkill',
		method: 'post',
		path: SKILLS,
		tag: 'Skills',
		summary: 'Makes a skill from a template',
		description: 'In the first configured folder of skills that can be written.',
		body: newSkill,
		success: ok('The skill, which is in the library.', 201),
		errors: ['conflict']
	},
	{
		id: 'getSkill',
		method: 'get',
		path: ONE,
		tag: 'Skills',
		summary: 'Everything of one skill',
		success: ok('Files, findings, needs, and the schemas of its tools.'),
		errors: ['invalid_input']
	},
	{
		id: 'changeSkill',
		method: 'put',
		path: ONE,
		tag: 'Skills',
		summary: 'Changes its mode, trust or network',
		description: '`enabled` brings back the mode before; where both are named, `mode` wins.',
		body: skillPatch,
		success: ok('The skill as it is now.'),
		errors: ['conflict']
	},
	{
		id: 'deleteSkill',
		method: 'delete',
		path: ONE,
		tag: 'Skills',
		summary: 'Moves it to the trash',
		success: ok('What can be restored.'),
		errors: ['invalid_input', 'conflict']
	},
	{
		id: 'followSkills',
		method: 'get',
		path: `${SKILLS}/events`,
		tag: 'Skills',
		summary: 'Says when the library changes',
		success: [events('The revision, now and after each change.')]
	},
	{
		id: 'reloadSkills',
		method: 'post',
		path: `${SKILLS}/reload`,
		tag: 'Skills',
		summary: 'Reads all folders of skills again',
		success: ok('The revision.')
	},
	{
		id: 'scoreSkills',
		method: 'post',
		path: `${SKILLS}/score`,
		tag: 'Skills',
		summary: 'Why each skill is or is not picked for a text',
		body: scoreRequest,
		success: ok('Points by signal, best first.')
	},
	{
		id: 'getSecrets',
		method: 'get',
		path: `${ONE}/secrets`,
		tag: 'Skills',
		summary: 'Which variables it needs, and which are set',
		success: ok('Names, never values.'),
		errors: ['invalid_input']
	},
	{
		id: 'changeSecrets',
		method: 'put',
		path: `${ONE}/secrets`,
		tag: 'Skills',
		summary: 'Stores or removes variables',
		body: secretsPatch,
		success: ok('Names, never values.')
	},
	{
		id: 'diagnoseSkill',
		method: 'get',
		path: `${ONE}/diagnostics`,
		tag: 'Skills',
		summary: 'What is wrong with its SKILL.md, and what can be fixed',
		success: ok('Issues, and the file with all fixes applied.'),
		errors: ['invalid_input']
	},
	{
		id: 'fixSkill',
		method: 'post',
		path: `${ONE}/diagnostics`,
		tag: 'Skills',
		summary: 'Applies fixes; the old file is kept beside it',
		body: diagnosisFix,
		success: ok('What is left.'),
		errors: ['conflict']
	},
	{
		id: 'checkSkill',
		method: 'post',
		path: `${ONE}/check`,
		tag: 'Skills',
		summary: 'What a text would be as its SKILL.md',
		description: 'Nothing is written.',
		body: skillCheckRequest,
		success: ok('Issues, and the text with each fix applied.')
	},
	{
		id: 'readSkillFile',
		method: 'get',
		path: `${ONE}/file`,
		tag: 'Skills',
		summary: 'The text of one of its files',
		query: skillFileQuery,
		success: ok('The text, and its SHA-256.'),
		errors: ['too_large', 'conflict']
	},
	{
		id: 'writeSkillFile',
		method: 'put',
		path: `${ONE}/file`,
		tag: 'Skills',
		summary: 'Writes one of its files',
		description: '`digest` is that of the file as it was read; another file than that is a conflict.',
		body: skillFileWrite,
		success: ok('The file as it is now.'),
		errors: ['conflict']
	},
	{
		id: 'removeSkillFile',
		method: 'delete',
		path: `${ONE}/file`,
		tag: 'Skills',
		summary: 'Removes one of its files, for good',
		query: skillFileQuery,
		success: DONE,
		errors: ['conflict']
	},
	{
		id: 'exportSkill',
		method: 'get',
		path: `${ONE}/export`,
		tag: 'Skills',
		summary: 'Downloads it as a zip archive that can be installed',
		success: [{ status: 200, description: 'One folder with its files.', type: 'application/zip' }],
		errors: ['invalid_input', 'too_large', 'conflict']
	}
];

const executions: Operation[] = [
	{
		id: 'listExecutions',
		method: 'get',
		path: EXECUTIONS,
		tag: 'Executions',
		summary: 'Lists what ran, the newest first',
		query: [executionQuery, pageQuery],
		success: ok('A page of them.')
	},
	{
		id: 'execute',
		method: 'post',
		path: EXECUTIONS,
		tag: 'Executions',
		summary: 'Runs a script, a tool or a built-in skill, without a model',
		description: `With an \`input\` alone the one tool or the one script of the skill is meant. ${APPROVE}`,
		body: adHocExecution,
		success: ok('What it did, and its record.', 201),
		errors: ['not_found', 'conflict']
	},
	{
		id: 'exportExecutions',
		method: 'get',
		path: `${EXECUTIONS}/export`,
		tag: 'Executions',
		summary: 'Downloads what ran, of any number',
		query: executionExportQuery,
		success: [
			{ status: 200, description: 'An array.', type: 'application/json' },
			{ status: 200, description: "RFC 4180; cells that a spreadsheet would run begin with `'`.", type: 'text/csv' }
		]
	},
	{
		id: 'getExecution',
		method: 'get',
		path: `${EXECUTIONS}/{id}`,
		tag: 'Executions',
		summary: 'One execution',
		success: ok('Its record.')
	},
	{
		id: 'stopExecution',
		method: 'delete',
		path: `${EXECUTIONS}/{id}`,
		tag: 'Executions',
		summary: 'Ends one that is running',
		success: DONE
	}
];

const trying: Operation[] = [
	{
		id: 'listCases',
		method: 'get',
		path: `${ONE}/cases`,
		tag: 'Cases and evals',
		summary: 'Runs by hand that were kept',
		success: ok('All of them.'),
		errors: ['invalid_input']
	},
	{
		id: 'createCase',
		method: 'post',
		path: `${ONE}/cases`,
		tag: 'Cases and evals',
		summary: 'Keeps a run by hand',
		body: skillCase,
		success: ok('The case.', 201),
		errors: ['conflict']
	},
	{
		id: 'deleteCase',
		method: 'delete',
		path: `${ONE}/cases/{case}`,
		tag: 'Cases and evals',
		summary: 'Deletes a case',
		success: DONE,
		errors: ['invalid_input']
	},
	{
		id: 'runCase',
		method: 'post',
		path: `${ONE}/cases/{case}/run`,
		tag: 'Cases and evals',
		summary: 'Runs a case and checks what it expects',
		body: caseStart,
		success: ok('What held and what did not.'),
		errors: ['invalid_input', 'conflict']
	},
	{
		id: 'listEvals',
		method: 'get',
		path: `${ONE}/evals`,
		tag: 'Cases and evals',
		summary: 'Its evals, and the runs of them',
		success: ok('Both.'),
		errors: ['invalid_input']
	},
	{
		id: 'startEvals',
		method: 'post',
		path: `${ONE}/evals`,
		tag: 'Cases and evals',
		summary: 'Asks its prompts with and without the skill',
		body: evalStart,
		success: ok('The run.', 202),
		errors: ['conflict']
	},
	{
		id: 'getEvals',
		method: 'get',
		path: `${ONE}/evals/{run}`,
		tag: 'Cases and evals',
		summary: 'A run of its evals',
		success: ok('The run, with its answers so far.'),
		errors: ['invalid_input']
	},
	{
		id: 'cancelEvals',
		method: 'delete',
		path: `${ONE}/evals/{run}`,
		tag: 'Cases and evals',
		summary: 'Ends a run of its evals',
		success: ok('The run.'),
		errors: ['invalid_input']
	}
];

export const SKILL_OPERATIONS: readonly Operation[] = [...registry, ...executions, ...trying];
