/** Stores and removes variables of a skill: all of them or, when one is refused, none (FEATURES F3). */
import { checkVariable, type Vault } from './vault.ts';

/** null removes a variable. @throws AppError invalid_input; no value is in its message */
export async function changeSecrets(
	vault: Vault,
	skillId: string,
	patch: Readonly<Record<string, string | null>>,
	now: string
): Promise<void> {
	const changes = Object.entries(patch);
	for (const [name, value] of changes) if (value !== null) checkVariable(name, value);
	for (const [name, value] of changes) {
		if (value === null) await vault.remove(skillId, name);
		else await vault.set(skillId, name, value, now);
	}
}
