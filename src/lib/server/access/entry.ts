/** The doors that every request passes before anybody asks who sends it, whatever it becomes (SECURITY, *The server*). */
import { AppError } from '../../shared/errors.ts';
import { isLoopback } from '../../shared/loopback.ts';
import { checkDoor, type DoorSettings, type Knock } from './doors.ts';
import { clientAddress } from './login.ts';

export interface Entrance extends DoorSettings {
	trustsProxy: boolean;
}

/** Returns the address that wrong tokens are counted by. @throws AppError forbidden | unsupported_media_type */
export function enter(
	knock: Knock & { /** Address of the connection. */ connected: string },
	settings: Entrance,
	{ isLoginNeeded }: { isLoginNeeded: boolean }
): string {
	checkDoor(knock, settings);
	// The development server can be told to listen on an address that the settings know nothing of.
	if (!isLoginNeeded && !isLoopback(knock.connected.replace(/^::ffff:/, ''))) {
		throw new AppError('forbidden', 'Without ADMIN_TOKEN this server is for the machine that it runs on.');
	}
	return clientAddress(knock.connected, knock.headers.get('x-forwarded-for'), settings.trustsProxy);
}
