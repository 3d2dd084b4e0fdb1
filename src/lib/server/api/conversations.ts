/** Conversations, their messages, files and questions, and the runs that answer (DESIGN §5). */
import {
	approvalDecision,
	conversationCreate,
	conversationExportQuery,
	conversationFork,
	conversationPatch,
	conversationQuery,
	conversationSkillPatch,
	earlierQuery,
	eventsQuery,
	pageQuery,
	queuedMessage,
	queuedMessagePatch,
	runAgentInput
} from '../../shared/api.ts';
import { conversationFile } from '../../shared/conversation-file.ts';
import { DONE, events, ok, type Operation } from './operation.ts';

const CONVERSATIONS = '/api/conversations';
const ONE = `${CONVERSATIONS}/{id}`;
const FILE = `${ONE}/files/{path}`;
const BYTES = { type: 'string', contentMediaType: 'application/octet-stream' };

const chat: Operation[] = [
	{
		id: 'chat',
		method: 'post',
		path: '/api/chat',
		tag: 'Chat',
		summary: 'Asks, or answers what was asked (AG-UI `RunAgentInput`)',
		description:
			'The newest user message is asked; tool messages at the end are results of the caller’s own `tools`, and the answer ' +
			'goes on with them; with `resume`, questions that ended a run are answered. System and developer messages and ' +
			'`context` are told to the model. `forwardedProps.snapshots` adds STATE_SNAPSHOT and MESSAGES_SNAPSHOT, ' +
			'`forwardedProps.cancelOnDisconnect` ends the run with the connection. ' +
			'With `accept: text/event-stream` the events of the run follow, else its ids are answered at once.',
		body: runAgentInput,
		success: [events('The events of the run (AG-UI 1.0).'), ...ok('The run that was started.', 202)],
		errors: ['not_found', 'conflict']
	},
	{
		id: 'getAgentCapabilities',
		method: 'get',
		path: '/api/agent/capabilities',
		tag: 'Chat',
		summary: 'What the agent can do (AG-UI `AgentCapabilities`)',
		success: ok('Transport, tools, state, limits, skills.')
	},
	{
		id: 'getRun',
		method: 'get',
		path: '/api/runs/{id}',
		tag: 'Chat',
		summary: 'What became of a run',
		success: ok('Its state.')
	},
	{
		id: 'stopRun',
		method: 'delete',
		path: '/api/runs/{id}',
		tag: 'Chat',
		summary: 'Ends a run',
		success: DONE
	},
	{
		id: 'getRunOffer',
		method: 'get',
		path: '/api/runs/{id}/offer',
		tag: 'Chat',
		summary: 'Why a run offered the skills that it did, and which it loaded and ran',
		success: ok('What it offered, or null where it kept nothing of that; what it loaded and ran.')
	},
	{
		id: 'followRun',
		method: 'get',
		path: '/api/runs/{id}/events',
		tag: 'Chat',
		summary: 'Follows a run from any event on',
		query: eventsQuery,
		success: [events('Events after `after`, or after the header `last-event-id`.')]
	}
];

const conversations: Operation[] = [
	{
		id: 'listConversations',
		method: 'get',
		path: CONVERSATIONS,
		tag: 'Conversations',
		summary: 'Lists conversations, pinned ones first, then the latest',
		description:
			'With `q`: those whose title has it, or one of whose messages has all its words, the last of them perhaps only ' +
			'begun. Where a message was found there is a `snippet` of the newest one, with its id. Deleted ones are not listed.',
		query: [conversationQuery, pageQuery],
		success: ok('A page of them.')
	},
	{
		id: 'createConversation',
		method: 'post',
		path: CONVERSATIONS,
		tag: 'Conversations',
		summary: 'Begins a conversation',
		body: conversationCreate,
		success: ok('The conversation.', 201)
	},
	{
		id: 'getConversation',
		method: 'get',
		path: ONE,
		tag: 'Conversations',
		summary: 'A conversation with its newest messages',
		success: ok('The conversation.')
	},
	{
		id: 'changeConversation',
		method: 'patch',
		path: ONE,
		tag: 'Conversations',
		summary: 'Renames, pins, archives it, and more',
		description: 'Only renaming makes it newer. `show` shows another branch; `isUnread: false` says that it was seen.',
		body: conversationPatch,
		success: ok('The conversation.'),
		errors: ['conflict']
	},
	{
		id: 'deleteConversation',
		method: 'delete',
		path: ONE,
		tag: 'Conversations',
		summary: 'Deletes it with its files; for ten minutes it can be restored',
		success: DONE
	},
	{
		id: 'restoreConversation',
		method: 'post',
		path: `${ONE}/restore`,
		tag: 'Conversations',
		summary: 'Brings back what was deleted',
		success: ok('The conversation.')
	},
	{
		id: 'exportConversation',
		method: 'get',
		path: `${ONE}/export`,
		tag: 'Conversations',
		summary: 'A conversation as a file',
		query: conversationExportQuery,
		success: [
			...ok('With all branches; an import takes it.'),
			{ status: 200, description: 'The branch that is shown, to be read.', type: 'text/markdown' }
		]
	},
	{
		id: 'importConversation',
		method: 'post',
		path: `${CONVERSATIONS}/import`,
		tag: 'Conversations',
		summary: 'Makes a conversation of an exported file',
		description: 'At most 20 MB. Its messages get new ids, and nothing in it is run.',
		body: conversationFile,
		success: ok('The new conversation.', 201)
	},
	{
		id: 'followConversation',
		method: 'get',
		path: `${ONE}/events`,
		tag: 'Conversations',
		summary: 'Says when something in it changes',
		description: 'A deleted conversation can be followed too: it may be restored.',
		success: [events('An event `change` at once and for each change, with `isDeleted`.')]
	},
	{
		id: 'forkConversation',
		method: 'post',
		path: `${ONE}/fork`,
		tag: 'Conversations',
		summary: 'Copies everything up to a message into a conversation of its own',
		body: conversationFork,
		success: ok('The new conversation.', 201),
		errors: ['conflict']
	},
	{
		id: 'listConversationSkills',
		method: 'get',
		path: `${ONE}/skills`,
		tag: 'Conversations',
		summary: 'Its skills: those that are pinned, then those that are loaded',
		success: ok('All of them, with their tokens.')
	},
	{
		id: 'setConversationSkill',
		method: 'put',
		path: `${ONE}/skills/{name}`,
		tag: 'Conversations',
		summary: 'Pins a skill, unpins it, or takes it away from the model',
		description:
			'`pinned`: its instructions are always with the model. `loaded`: not pinned any more; what the model has loaded ' +
			'stays. `unloaded`: what was loaded of it so far is not with the model any more. It counts from the next answer on.',
		body: conversationSkillPatch,
		success: ok('All skills of the conversation.'),
		errors: ['conflict']
	},
	{
		id: 'listMessages',
		method: 'get',
		path: `${ONE}/messages`,
		tag: 'Conversations',
		summary: 'Messages before one',
		query: earlierQuery,
		success: ok('A stretch of the branch.')
	},
	{
		id: 'deleteMessage',
		method: 'delete',
		path: `${ONE}/messages/{message}`,
		tag: 'Conversations',
		summary: 'Deletes a message and what follows it',
		success: DONE,
		errors: ['conflict']
	},
	{
		id: 'queueMessage',
		method: 'post',
		path: `${ONE}/queue`,
		tag: 'Conversations',
		summary: 'Asks after the run that is under way',
		body: queuedMessage,
		success: ok('The run that was started, or null.', 202),
		errors: ['conflict']
	},
	{
		id: 'changeQueuedMessage',
		method: 'patch',
		path: `${ONE}/queue/{message}`,
		tag: 'Conversations',
		summary: 'Edits a message that waits',
		body: queuedMessagePatch,
		success: DONE
	},
	{
		id: 'deleteQueuedMessage',
		method: 'delete',
		path: `${ONE}/queue/{message}`,
		tag: 'Conversations',
		summary: 'Takes back a message that waits',
		success: DONE
	},
	{
		id: 'sendQueuedMessage',
		method: 'post',
		path: `${ONE}/queue/{message}/send`,
		tag: 'Conversations',
		summary: 'Asks it now, in place of what is under way',
		success: ok('The run that was started, or null.', 202),
		errors: ['conflict']
	},
	{
		id: 'decide',
		method: 'post',
		path: `${ONE}/approvals/{interrupt}`,
		tag: 'Conversations',
		summary: 'Answers a question whether a script may run',
		body: approvalDecision,
		success: ok('The run that goes on, or null while other questions are open.', 202),
		errors: ['conflict']
	}
];

const files: Operation[] = [
	{
		id: 'listFiles',
		method: 'get',
		path: `${ONE}/files`,
		tag: 'Files',
		summary: 'Files of a conversation',
		success: ok('All of them.'),
		errors: ['invalid_input']
	},
	{
		id: 'getFile',
		method: 'get',
		path: FILE,
		tag: 'Files',
		summary: 'Reads a file',
		success: [{ status: 200, description: 'The file.', type: 'application/octet-stream' }],
		errors: ['invalid_input']
	},
	{
		id: 'putFile',
		method: 'put',
		path: FILE,
		tag: 'Files',
		summary: 'Writes a file',
		otherBodies: { 'application/octet-stream': { description: 'The file, of any type.', schema: BYTES } },
		success: ok('What was written.', 201),
		errors: ['conflict']
	},
	{
		id: 'deleteFile',
		method: 'delete',
		path: FILE,
		tag: 'Files',
		summary: 'Deletes a file',
		success: DONE,
		errors: ['invalid_input']
	}
];

export const CONVERSATION_OPERATIONS: readonly Operation[] = [...chat, ...conversations, ...files];
