/** The menu of a chat, the same in the list and in the header. */
import Archive from '@lucide/svelte/icons/archive';
import ArchiveRestore from '@lucide/svelte/icons/archive-restore';
import Braces from '@lucide/svelte/icons/braces';
import Copy from '@lucide/svelte/icons/copy';
import FileText from '@lucide/svelte/icons/file-text';
import NotebookPen from '@lucide/svelte/icons/notebook-pen';
import Pencil from '@lucide/svelte/icons/pencil';
import Pin from '@lucide/svelte/icons/pin';
import PinOff from '@lucide/svelte/icons/pin-off';
import Sparkles from '@lucide/svelte/icons/sparkles';
import Trash from '@lucide/svelte/icons/trash-2';
import type { ConversationActions } from './conversation-actions.ts';
import type { ConversationSummary } from '../../shared/api.ts';
import type { MenuItem } from '../ui/popups/popup.ts';

export interface ConversationMenuOptions {
	/** Starts editing the title. */
	onrename: () => void;
	/** Replaces the default deletion where the focus has to move. */
	ondelete?: () => void;
	/** Opens the chat's instructions, if it is open. */
	oninstruct?: (() => void) | undefined;
	/** The chat is open, so its text can be copied. */
	canCopy?: boolean;
}

export function conversationMenu(
	conversation: ConversationSummary,
	actions: ConversationActions,
	{ onrename, oninstruct, ondelete, canCopy = false }: ConversationMenuOptions
): MenuItem[] {
	const { id, isPinned, isArchived } = conversation;
	const copy = { id: 'conversation-copy', label: 'Copy as Markdown', icon: Copy };
	return [
		{ id: 'conversation-rename', label: 'Rename', icon: Pencil, run: onrename },
		...(oninstruct
			? [{ id: 'conversation-instructions', label: 'Instructions', icon: NotebookPen, run: oninstruct }]
			: []),
		{
			id: 'conversation-pin',
			label: isPinned ? 'Unpin' : 'Pin',
			icon: isPinned ? PinOff : Pin,
			run: () => void actions.togglePin(conversation)
		},
		{
			id: 'conversation-archive',
			label: isArchived ? 'Unarchive' : 'Archive',
			icon: isArchived ? ArchiveRestore : Archive,
			run: () => void actions.toggleArchive(conversation)
		},
		{
			id: 'conversation-save-skill',
			label: 'Save as skill',
			icon: Sparkles,
			isApart: true,
			run: () => void actions.saveAsSkill(id)
		},
		...(canCopy ? [{ ...copy, run: () => void actions.copyMarkdown(id) }] : []),
		{
			id: 'conversation-export-markdown',
			label: 'Export as Markdown',
			icon: FileText,
			href: actions.exportUrl(id, 'markdown')
		},
		{
			id: 'conversation-export-json',
			label: 'Export as JSON',
			icon: Braces,
			href: actions.exportUrl(id, 'json')
		},
		{
			id: 'conversation-delete',
			label: 'Delete',
			icon: Trash,
			isDanger: true,
			isApart: true,
			run: ondelete ?? (() => void actions.remove(conversation))
		}
	];
}
