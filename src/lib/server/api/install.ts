/** Installing skills, their versions and the trash (FEATURES E4–E9, E20–E28). */
import { z } from 'zod';
import {
	customSkill,
	installConfirm,
	installRequest,
	marketplaceInstall,
	skillsshInstall,
	stageRequest,
	versionSwitch
} from '../../shared/install.ts';
import { catalogQuery } from '../../shared/api.ts';
import { DONE, ok, type Operation } from './operation.ts';

const SKILLS = '/api/skills';
const ONE = `${SKILLS}/{id}`;
const STAGED = `${SKILLS}/install/staged`;
const TRASH = `${SKILLS}/trash`;
const FILE = { type: 'string', contentMediaType: 'application/octet-stream' };

const installing: Operation[] = [
	{
		id: 'installSkills',
		method: 'post',
		path: `${SKILLS}/install`,
		tag: 'Install',
		summary: 'Installs skills in one go',
		description: 'From a source, or one tool made of a schema and the name of a native handler.',
		// What `installBody` takes either of.
		body: z.union([customSkill, installRequest]),
		success: ok('What was installed, and what was left out.', 201),
		errors: ['not_found', 'conflict']
	},
	{
		id: 'stageInstall',
		method: 'post',
		path: STAGED,
		tag: 'Install',
		summary: 'Fetches or takes skills, checks them, and places nothing',
		body: stageRequest,
		otherBodies: {
			'application/zip': { description: 'A zip archive.', schema: FILE },
			'multipart/form-data': {
				description: 'The files of a folder; the name of each is its relative path.',
				schema: { type: 'object', properties: { files: { type: 'array', items: FILE } }, required: ['files'] }
			}
		},
		success: ok('Files, scripts, findings, and the difference to what is installed.', 201),
		errors: ['not_found', 'conflict']
	},
	{
		id: 'getStaged',
		method: 'get',
		path: `${STAGED}/{id}`,
		tag: 'Install',
		summary: 'What waits for a yes',
		success: ok('The same as when it was staged.')
	},
	{
		id: 'confirmStaged',
		method: 'post',
		path: `${STAGED}/{id}`,
		tag: 'Install',
		summary: 'Places what was staged',
		body: installConfirm,
		success: ok('What was installed, and what was left out.', 201),
		errors: ['conflict']
	},
	{
		id: 'discardStaged',
		method: 'delete',
		path: `${STAGED}/{id}`,
		tag: 'Install',
		summary: 'Throws away what was staged',
		success: DONE
	},
	{
		id: 'searchMarketplace',
		method: 'get',
		path: `${SKILLS}/marketplace`,
		tag: 'Install',
		summary: 'Searches SkillsMP',
		query: [catalogQuery],
		success: ok('A page of its skills.'),
		errors: ['unavailable', 'conflict']
	},
	{
		id: 'installFromMarketplace',
		method: 'post',
		path: `${SKILLS}/marketplace/install`,
		tag: 'Install',
		summary: 'Installs a skill of SkillsMP, while it is the active provider',
		body: marketplaceInstall,
		success: ok('What was installed.', 201),
		errors: ['not_found', 'conflict']
	},
	{
		id: 'searchSkillsSh',
		method: 'get',
		path: `${SKILLS}/skillssh`,
		tag: 'Install',
		summary: 'Searches skills.sh',
		query: [catalogQuery.omit({ page: true })],
		success: ok('Its best skills.'),
		errors: ['unavailable', 'conflict']
	},
	{
		id: 'installFromSkillsSh',
		method: 'post',
		path: `${SKILLS}/skillssh/install`,
		tag: 'Install',
		summary: 'Installs a skill of skills.sh, while it is the active provider',
		body: skillsshInstall,
		success: ok('What was installed.', 201),
		errors: ['not_found', 'conflict']
	}
];

const versions: Operation[] = [
	{
		id: 'listVersions',
		method: 'get',
		path: `${ONE}/versions`,
		tag: 'Versions',
		summary: 'Its versions, and which one is in use',
		success: ok('The newest first.'),
		errors: ['invalid_input']
	},
	{
		id: 'useVersion',
		method: 'put',
		path: `${ONE}/versions`,
		tag: 'Versions',
		summary: 'Uses another version from now on',
		body: versionSwitch,
		success: ok('Its versions as they are now.'),
		errors: ['conflict']
	},
	{
		id: 'rollBack',
		method: 'post',
		path: `${ONE}/rollback`,
		tag: 'Versions',
		summary: 'Goes back to the installation before',
		success: ok('Its versions as they are now.'),
		errors: ['invalid_input', 'conflict']
	},
	{
		id: 'stageUpdate',
		method: 'post',
		path: `${ONE}/update`,
		tag: 'Versions',
		summary: 'Fetches it anew from where it came, and places nothing',
		success: ok('What was staged.', 201),
		errors: ['invalid_input', 'conflict', 'too_large']
	},
	{
		id: 'listOutdated',
		method: 'get',
		path: `${SKILLS}/outdated`,
		tag: 'Versions',
		summary: 'Which installed skills have changed where they came from',
		success: ok('All that can be asked.'),
		errors: ['unavailable']
	},
	{
		id: 'listTrash',
		method: 'get',
		path: TRASH,
		tag: 'Trash',
		summary: 'What was removed and can be restored',
		success: ok('All of it.')
	},
	{
		id: 'restoreSkill',
		method: 'post',
		path: `${TRASH}/{id}`,
		tag: 'Trash',
		summary: 'Restores it',
		success: ok('Where it is.'),
		errors: ['conflict']
	},
	{
		id: 'deleteTrashed',
		method: 'delete',
		path: `${TRASH}/{id}`,
		tag: 'Trash',
		summary: 'Removes it for good',
		success: DONE
	}
];

export const INSTALL_OPERATIONS: readonly Operation[] = [...installing, ...versions];
