/** Rules for scripts and commands, searched line by line; data (SECURITY, *Skills*). Short repetitions keep it linear. */
import type { SkillFinding } from '../../../shared/skills.ts';

export interface Rule {
	severity: SkillFinding['severity'];
	kind: string;
	message: string;
	pattern: RegExp;
	/** Must follow somewhere after `pattern`: two searches are linear, one with a gap in it isn't. */
	then?: RegExp;
	/** Only in prose files, or only in others. */
	in?: 'prose' | 'code';
}

const SHELL = '\\b(?:(?:ba|z|da|k|fi|a|c|tc)?sh|python[\\d.]{0,4}|node|perl|ruby|php|osascript)\\b';
const PIPED = `(?:\\/\\S{0,40}\\/)?${SHELL}`;
const AS = '(?:sudo\\s{1,4}(?:-\\S{1,20}\\s{1,4}){0,4})?(?:env\\s{1,4})?';
const FETCH = '\\b(?:curl|wget|fetch|aria2c|lwp-request|http|https|xh)\\b';
const HOME =
	'(?:~|\\$HOME|\\$\\{HOME\\}|%USERPROFILE%|\\$env:USERPROFILE|\\/root|\\/home\\/[^\\/\\s]{1,40}|\\/Users\\/[^\\/\\s]{1,40})';
const DECODE =
	'(?:atob|Buffer\\.from|unescape|decodeURIComponent|base64\\.(?:b64|b32|b85|a85)decode|b64decode|zlib\\.decompress|gzip\\.decompress|codecs\\.decode|bytes\\.fromhex|bytearray\\.fromhex|binascii\\.unhexlify|marshal\\.loads|pickle\\.loads|base64_decode|gzinflate|str_rot13|String\\.fromCharCode|lzma\\.decompress|compile)';

/** Rules that differ only in their pattern: `first`, or `first => then` (see `Rule`). */
export function rules(
	{ flags = 'i', ...facts }: Omit<Rule, 'pattern' | 'then'> & { flags?: string },
	sources: readonly string[]
): Rule[] {
	const compile = (part: string) => new RegExp(part, flags);
	return sources.map((source) => {
		const [first = '', then] = source.split(' => ');
		return { ...facts, pattern: compile(first), then: then === undefined ? undefined : compile(then) };
	});
}

export const CODE_RULES: readonly Rule[] = [
	...rules({ severity: 'danger', kind: 'pipe-to-shell', message: 'Runs what it downloads' }, [
		`${FETCH} => \\|\\s{0,10}${AS}${PIPED}`,
		`(?:${SHELL}|\\bsource|(?:^|\\s)\\.)\\s{1,10}(?:-\\S{1,20}\\s{1,4}){0,4}<\\(\\s{0,10}${AS}${FETCH}`,
		`(?:${SHELL}\\s{1,10}-\\w{0,6}c|\\beval|\\bexec)\\s{0,10}["']?(?:\\$\\(|\`)\\s{0,10}${AS}${FETCH}`,
		`${FETCH} => (?:&&|;)\\s{0,10}${AS}(?:chmod\\s{1,4}(?:\\+x|[0-7]{3,4}|[ugoa]{1,3}\\+x)|${SHELL}\\s|\\.\\/|\\/tmp\\/)`,
		'\\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|curl|wget)\\b => \\|\\s{0,10}(?:iex|invoke-expression)\\b',
		'\\b(?:iex|invoke-expression)\\b => (?:downloadstring|\\biwr\\b|\\birm\\b|invoke-webrequest|invoke-restmethod|net\\.webclient)',
		// Not the keyword, which each function of minified code begins with.
		'\\b(?:exec|eval|Function(?!\\s{0,4}\\([^()]{0,400}\\)\\s{0,4}\\{)|runInThisContext|runInNewContext)\\s{0,4}\\( => (?:urlopen|urllib|requests\\.|httpx\\.|\\bfetch\\(|https?\\.get|axios)',
		'\\b(?:mshta|regsvr32|rundll32|bitsadmin|certutil|msiexec)\\b => https?:\\/\\/'
	]),
	...rules({ severity: 'danger', kind: 'pipe-to-shell', message: 'Runs encoded text as code' }, [
		`\\b(?:base64|base32|xxd|openssl|uudecode|gunzip|zcat|rev|tr|gpg|hexdump|python3?\\s-c)\\b => \\|\\s{0,10}${AS}(?:\\/\\S{0,40}\\/)?(?:ba|z|da|k)?sh(?:\\s|$|["'\`)])`,
		`\\bbase64\\s{1,4}(?:-d|-D|--decode)\\b => \\|\\s{0,10}${AS}${PIPED}`,
		`(?:${SHELL}\\s{1,10}-\\w{0,6}c|\\beval|\\bexec)\\s{0,10}["']?(?:\\$\\(|\`) => (?:base64|xxd|openssl|\\brev\\b)`,
		`(?:${SHELL}|\\bsource)\\s{1,10}<\\( => (?:base64|xxd|openssl)`,
		`${SHELL}\\s{0,10}<<<\\s{0,10}["']?(?:\\$\\(|\`) => (?:base64|xxd|curl|wget)`
	]),
	...rules(
		{ severity: 'danger', kind: 'reverse-shell', message: 'Lets someone else run commands here (reverse shell)' },
		[
			'\\/dev\\/(?:tcp|udp)\\/',
			'\\b(?:nc|ncat|netcat)\\b => \\s-\\w{0,6}[ec]\\s{0,4}\\S{0,20}(?:sh|cmd)',
			'\\b(?:ba)?sh\\s{1,4}-i\\s{0,4}(?:[0-9]?[<>]|&>)',
			'\\bsocat\\b => \\bexec:',
			'\\bmkfifo\\b => \\b(?:nc|ncat|netcat|openssl)\\b',
			'\\bos\\.dup2\\s{0,4}\\([^\\n]{0,60}fileno',
			'\\bpty\\.spawn\\s{0,4}\\('
		]
	),
	...rules({ severity: 'danger', kind: 'obfuscation', message: 'Runs code hidden in text' }, [
		`\\b(?:eval|exec|Function|execScript|setTimeout|vm\\.\\w{1,20}|assert)\\s{0,4}\\(\\s{0,4}(?:await\\s{1,4})?(?:(?:new\\s{1,4})?\\w{1,20}\\s{0,4}\\(\\s{0,4}){0,3}(?:__import__\\s{0,4}\\(\\s{0,4}['"]\\w{1,20}['"]\\s{0,4}\\)\\.\\w{1,20}\\s{0,4}\\(|${DECODE}\\s{0,4}\\()`,
		'\\b(?:eval|exec)\\s{0,4}\\( => \\.(?:b64decode|decompress|fromhex|unhexlify)\\s{0,4}\\(',
		'\\b(?:powershell|pwsh)(?:\\.exe)?\\b => \\s-e(?:nc|ncodedcommand|c)?\\s{1,4}[A-Za-z0-9+\\/=]{16}'
	]),
	...rules({ severity: 'danger', kind: 'obfuscation', message: 'Disguises a command', flags: '' }, ['\\$\\{?IFS\\b']),
	...rules({ severity: 'danger', kind: 'obfuscation', message: 'Disguises a command' }, [
		'__import__\\s{0,4}\\(\\s{0,4}[\'"](?:os|subprocess|socket|ctypes|pty)[\'"]',
		'\\bgetattr\\s{0,4}\\(\\s{0,4}(?:__builtins__|os|subprocess|__import__)\\b'
	]),
	...rules({ severity: 'danger', kind: 'obfuscation', message: 'Builds text from numbers' }, [
		'fromCharCode\\s{0,4}\\((?:\\s{0,4}(?:0x[0-9a-f]{1,4}|\\d{1,5})\\s{0,4},){4}',
		'(?:\\bchr\\s{0,2}\\(\\s{0,2}(?:0x)?[0-9a-f]{1,4}\\s{0,2}\\)\\s{0,3}[+.]\\s{0,3}){3}',
		'\\b(?:map|join)\\b[^\\n]{0,40}\\bchr\\b[^\\n]{0,40}\\[(?:\\s{0,4}\\d{1,3}\\s{0,4},){6}'
	]),
	...rules({ severity: 'danger', kind: 'obfuscation', message: 'Disguises a name' }, [
		'\\[\\s{0,4}([\'"`])[a-z_]{1,16}\\1\\s{0,4}\\+\\s{0,4}[\'"`][a-z_]{1,16}[\'"`]\\s{0,4}\\]\\s{0,4}(?:\\(|\\.|\\[)'
	]),
	...rules({ severity: 'warning', kind: 'obfuscation', message: 'Writes text as numbers' }, [
		'(?:\\\\x[0-9a-f]{2}){8}|(?:\\\\u00[0-9a-f]{2}){8}|(?:\\\\[0-3][0-7]{2}){8}'
	]),
	...rules({ severity: 'warning', kind: 'obfuscation', message: 'Long unreadable block' }, [
		'[A-Za-z0-9+\\/]{240}',
		'(?:[0-9a-f]{2}[\\s:,]?){130}'
	]),
	...rules(
		{ severity: 'warning', kind: 'obfuscation', message: 'Meaningless names, as in code that hides its purpose' },
		['\\b_0x[0-9a-f]{4,8}\\b']
	),
	...rules({ severity: 'warning', kind: 'obfuscation', message: 'Code without letters', in: 'code' }, [
		'[\\[\\]()!+]{40}'
	]),
	...rules({ severity: 'warning', kind: 'dynamic-code', message: 'Runs text as code', flags: '', in: 'code' }, [
		'(?<![.\\w])(?:eval|exec)\\s{0,4}\\(|\\bnew\\s{1,4}Function\\s{0,4}\\('
	]),
	...rules({ severity: 'danger', kind: 'credential-path', message: 'Uses a file of keys or passwords' }, [
		`${HOME}["']?[\\/\\\\]["']?\\.(?:ssh|aws|gnupg|kube|docker|azure|netrc|pypirc|git-credentials|password-store|config[\\/\\\\](?:gcloud|gh|op|rclone))\\b`,
		'\\.ssh[\\/\\\\]|\\.aws[\\/\\\\](?:credentials|config)|\\bid_(?:rsa|dsa|ecdsa|ed25519)\\b|\\.netrc\\b|\\.git-credentials\\b|\\.kube[\\/\\\\]config|\\.docker[\\/\\\\]config\\.json|\\.pypirc\\b|\\.pgpass\\b|\\.gnupg\\b|\\bgcloud[\\/\\\\](?:credentials|application_default)|\\.npmrc\\b',
		'[\'"]\\.(?:ssh|aws|gnupg|kube|azure|password-store)[\'"]',
		'\\/etc\\/(?:g?shadow|sudoers|ssl\\/private|krb5\\.keytab)\\b'
	]),
	...rules({ severity: 'danger', kind: 'credential-path', message: 'Uses saved passwords of the browser or system' }, [
		'\\bLogin Data\\b|\\bkey[34]\\.db\\b|\\blogins\\.json\\b|\\bcookies\\.sqlite\\b|\\bLocal State\\b|Keychains[\\/\\\\]|login\\.keychain|find-(?:generic|internet)-password|dump-keychain|\\bsecret-tool\\s{1,4}(?:lookup|search)|User Data[\\/\\\\]Default|\\.mozilla[\\/\\\\]firefox|google-chrome[\\/\\\\]Default|\\bntds\\.dit\\b|\\bwallet\\.dat\\b|Exodus[\\/\\\\]exodus\\.wallet|\\bmimikatz\\b'
	]),
	...rules({ severity: 'danger', kind: 'credential-path', message: 'Reads another program’s environment variables' }, [
		'\\/proc\\/(?:self|\\d{1,7}|\\*|\\$\\w{1,20}|\\{\\w{0,20}\\})\\/(?:environ|mem)\\b'
	]),
	...rules({ severity: 'danger', kind: 'credential-path', message: 'Requests cloud keys of this computer' }, [
		'169\\.254\\.169\\.254|metadata\\.google\\.internal|fd00:ec2::254|100\\.100\\.100\\.200'
	]),
	...rules({ severity: 'warning', kind: 'credential-path', message: 'Reads the list of users on this computer' }, [
		'\\/etc\\/passwd\\b'
	]),
	...rules({ severity: 'warning', kind: 'credential-path', message: 'Uses a file of secrets' }, [
		'(?:^|[\\s\'"`\\/=(<@])\\.env(?:\\.(?:local|production|prod|development))?(?=$|[\\s\'"`);,|&>])'
	]),
	...rules({ severity: 'danger', kind: 'destructive-command', message: 'Deletes files that aren’t its own' }, [
		`\\brm\\s{1,4}(?:-{1,2}[\\w-]{1,24}\\s{1,4}){1,5}(?:--\\s{1,4})?["']?(?:\\/\\*?|~\\/?\\*?|\\$\\{?HOME\\}?["']?\\/?\\*?|\\/(?:etc|usr|var|home|bin|boot|lib|root|opt|srv|Users)\\b\\/?\\*?)["']?(?:\\s|$|[;&|)"'\`])`,
		'--no-preserve-root\\b'
	]),
	...rules({ severity: 'danger', kind: 'destructive-command', message: 'Overwrites a disk' }, [
		'\\bmkfs(?:\\.\\w{1,10})?\\s|\\bdd\\b[^\\n]{0,99}\\bof=\\/dev\\/(?!null|stdout|stderr|fd)|>\\s{0,4}\\/dev\\/(?:sd|nvme|hd|vd|xvd|mmcblk|disk)|\\bwipefs\\b|\\bshred\\s[^\\n]{0,100}\\/dev\\/'
	]),
	...rules({ severity: 'danger', kind: 'destructive-command', message: 'Starts processes without end' }, [
		':\\s{0,2}\\(\\s{0,2}\\)\\s{0,2}\\{\\s{0,2}:\\s{0,2}\\|\\s{0,2}:\\s{0,2}&\\s{0,2}\\}'
	]),
	...rules({ severity: 'danger', kind: 'destructive-command', message: 'Makes files writable for everyone' }, [
		'\\bchmod\\s{1,4}(?:-\\w{1,6}\\s{1,4}){0,3}(?:0?777|a\\+rwx)\\s{1,4}(?:\\/|~)(?:\\s|$|\\w{1,8}$)|\\bchmod\\s{1,4}(?:-\\w{1,6}\\s{1,4}){0,3}(?:u\\+s|g\\+s|[ug]{1,2}\\+s|[2467]7[0-7]{2})\\b'
	]),
	...rules({ severity: 'danger', kind: 'destructive-command', message: 'Deletes files that aren’t its own' }, [
		'\\bfind\\s{1,4}(?:\\/|~|\\$HOME)\\s => (?:-delete\\b|-exec\\s{1,4}rm\\b)',
		'\\b(?:rmtree|rmSync|rm|rimraf|removeSync)\\s{0,4}\\(\\s{0,4}(?:[\'"](?:\\/|~|[A-Z]:\\\\{1,2})[\'"]|os\\.path\\.expanduser|Path\\.home\\(\\)|(?:os\\.)?homedir\\(\\))',
		'\\b(?:del|rd|rmdir)\\s{1,4}(?:\\/[sfq]\\s{1,4}){1,3}["\']?[a-z]:\\\\|\\bformat\\s{1,4}[a-z]:(?:\\s|$)|\\bRemove-Item\\b[^\\n]{0,100}-Recurse[^\\n]{0,100}[A-Z]:\\\\|\\bvssadmin\\s{1,4}delete\\b',
		'\\bkill\\s{1,4}-(?:9|KILL)\\s{1,4}-1\\b'
	]),
	...rules({ severity: 'danger', kind: 'persistence', message: 'Schedules itself to run later' }, [
		'\\bcrontab\\s{1,4}(?:-(?![lhV]\\b)|\\/|\\w|<)|\\|\\s{0,4}crontab\\b',
		'\\/etc\\/(?:cron|systemd\\/|init\\.d|rc\\.local|profile|ld\\.so\\.preload|launchd)|\\/var\\/spool\\/cron|\\.config\\/(?:systemd|autostart)\\b|Library[\\/\\\\]Launch(?:Agents|Daemons)|\\blaunchctl\\s{1,4}(?:load|bootstrap|submit|enable)|\\bsystemctl\\s{1,4}(?:--\\w{1,10}\\s{1,4}){0,3}(?:enable|link)\\b|\\bschtasks\\b[^\\n]{0,40}\\/create|CurrentVersion\\\\{1,2}Run\\b|\\bupdate-rc\\.d\\b'
	]),
	...rules({ severity: 'danger', kind: 'persistence', message: 'Changes what runs at login' }, [
		'\\.(?:bashrc|zshrc|bash_profile|bash_login|zprofile|zshenv|xinitrc|kshrc)\\b|(?:~|HOME\\}?|home\\(\\))["\']?\\s{0,2}[\\/,]\\s{0,2}["\']?\\.profile\\b|\\bconfig\\.fish\\b'
	]),
	...rules({ severity: 'danger', kind: 'persistence', message: 'Changes who may log in' }, ['\\bauthorized_keys\\b']),
	...rules({ severity: 'danger', kind: 'persistence', message: 'Changes how other programs start' }, [
		'\\bLD_PRELOAD\\b|\\bDYLD_INSERT_LIBRARIES\\b|\\b(?:site|user)customize\\.py\\b|\\bPROMPT_COMMAND\\b'
	]),
	...rules({ severity: 'danger', kind: 'persistence', message: 'Changes what git runs' }, [
		'\\.git[\\/\\\\]hooks\\b|\\bcore\\.hooksPath\\b'
	]),
	...rules({ severity: 'danger', kind: 'environment-dump', message: 'Sends environment variables elsewhere' }, [
		'\\b(?:printenv|env|export\\s{1,4}-p|declare\\s{1,4}-x|set)\\b[^\\n]{0,60}\\| => \\b(?:curl|wget|nc|ncat|netcat|socat|telnet|base64|xxd|openssl|http|mail|sendmail)\\b',
		'\\b(?:curl|wget|http|nc|ncat)\\b => (?:\\$\\(|`)\\s{0,4}(?:printenv|env|set|export\\s-p)\\b',
		'(?:requests\\.\\w{1,10}|urlopen|httpx\\.\\w{1,10}|\\bfetch|axios(?:\\.\\w{1,10})?|https?\\.request|urlencode|sendall|\\.post|\\.send)\\s{0,4}\\( => (?:os\\.environ(?!\\s{0,4}(?:\\[|\\.get\\b))|process\\.env(?!\\s{0,4}(?:\\.|\\[|\\?)))'
	]),
	...rules({ severity: 'warning', kind: 'environment-dump', message: 'Reads all environment variables', in: 'code' }, [
		'(?:^|[;&|(`]|\\$\\()\\s{0,8}(?:printenv|env|export\\s{1,4}-p|declare\\s{1,4}-x|compgen\\s{1,4}-v)\\s{0,8}(?:$|[|>;)`])'
	]),
	...rules({ severity: 'warning', kind: 'environment-dump', message: 'Reads all environment variables' }, [
		'\\b(?:dumps|dict|str|print|repr|list|stringify|log|entries|keys|values|write)\\s{0,4}\\(\\s{0,4}(?:dict\\(\\s{0,4})?(?:os\\.environ|process\\.env)(?:\\.items\\(\\)|\\.copy\\(\\))?\\s{0,4}[),]'
	]),
	...rules({ severity: 'danger', kind: 'exfiltration', message: 'Sends files or results elsewhere' }, [
		'\\b(?:tar|zip|cat|gzip|gpg|find|ls|base64|cut|grep|history|whoami|hostname|id|uname)\\b => \\|\\s{0,10}(?:curl\\b[^\\n]{0,200}(?:-d|--data\\S{0,12}|-T|-F|--upload-file)|nc\\b|ncat\\b|netcat\\b|socat\\b|telnet\\b)'
	]),
	...rules({ severity: 'danger', kind: 'exfiltration', message: 'Sends data through host names' }, [
		'\\b(?:dig|nslookup|host|ping|curl|wget)\\b => (?:\\$\\([^)\\n]{1,200}\\)|`[^`\\n]{1,200}`|\\$\\{?\\w{1,40}\\}?)\\.[a-z0-9-]{1,60}\\.[a-z]{2,12}\\b'
	]),
	...rules({ severity: 'danger', kind: 'exfiltration', message: 'Uses a service that collects data for anyone' }, [
		'\\b(?:webhook\\.site|requestbin|pipedream\\.net|burpcollaborator|interact\\.sh|oast\\.(?:fun|pro|live|site|online|me)|beeceptor\\.com|requestcatcher\\.com|hookbin\\.com|dnslog\\.cn|ngrok(?:-free)?\\.(?:io|app|dev)|transfer\\.sh|file\\.io|0x0\\.st|termbin\\.com|trycloudflare\\.com|canarytokens)\\b'
	]),
	...rules({ severity: 'warning', kind: 'exfiltration', message: 'Uses a service that collects data for anyone' }, [
		'pastebin\\.com|paste\\.ee|discord(?:app)?\\.com\\/api\\/webhooks|api\\.telegram\\.org\\/bot|hooks\\.slack\\.com'
	]),
	...rules({ severity: 'danger', kind: 'network', message: 'Disguises an address' }, [
		'\\bhttps?:\\/\\/(?:[^\\s\\/@]{1,80}@)?(?:0x[0-9a-f]{6,8}|\\d{8,10}|0[0-7]{1,3}\\.0[0-7]{1,3}\\.\\S{1,10})(?=[:\\/?#\\s\'"]|$)'
	]),
	...rules({ severity: 'warning', kind: 'network', message: 'Uses an IP address instead of a name' }, [
		'\\b(?:https?|ftp|wss?|tcp):\\/\\/(?!127\\.|0\\.0\\.0\\.0)\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\b',
		'(?:connect|create_connection|createConnection|ssh|scp|nc|curl|wget|ping|telnet)\\b[^\\n]{0,60}[\\s\'"(@](?!127\\.|0\\.0\\.0\\.0)\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\b'
	]),
	...rules(
		{
			severity: 'warning',
			kind: 'network',
			message: 'Uses a tool for connections or network scans',
			flags: '',
			in: 'code'
		},
		[
			'(?:^|[\\s;&|(\'"`])(?:nc|ncat|netcat|socat|nmap|masscan|telnet|ngrok|cloudflared|hping3|tcpdump|chisel|frpc|proxychains4?|scp|sftp|rsync|ssh)\\s{1,4}[-\\w.$"\'@]'
		]
	),
	...rules({ severity: 'info', kind: 'network', message: 'Uses the network', in: 'code' }, [
		'(?:^|[\\s;&|(\'"`])(?:curl|wget)\\s|\\b(?:requests\\.(?:get|post|put|request)|urlopen|httpx\\.|aiohttp\\.|fetch\\(|axios|https?\\.(?:get|request)\\(|socket\\.socket|net\\.connect)'
	]),
	...rules({ severity: 'warning', kind: 'package-install', message: 'Installs packages when it runs', in: 'code' }, [
		'\\b(?:pip[\\d.]{0,4}|pipx|uv\\s{1,4}(?:pip|tool)|conda|mamba|npm|pnpm|yarn|bun|gem|cargo|go|apt|apt-get|apk|brew|dnf|yum|pacman|zypper|snap|choco|winget|composer|luarocks|cpan|cpanm|deno)\\s{1,4}(?:-{1,2}\\S{1,24}\\s{1,4}){0,5}(?:install|i|add|get|ci|-S[yu]{0,3})\\s{1,4}[-\\w@.~"\'$/]'
	]),
	...rules({ severity: 'info', kind: 'package-install', message: 'Tells you to install packages', in: 'prose' }, [
		'\\b(?:pip[\\d.]{0,4}|pipx|uv\\s{1,4}pip|conda|npm|pnpm|yarn|gem|cargo|apt|apt-get|apk|brew|dnf|yum|pacman)\\s{1,4}(?:-{1,2}\\S{1,24}\\s{1,4}){0,5}(?:install|i|add)\\s{1,4}[-\\w@.~"\'$/]'
	]),
	...rules({ severity: 'warning', kind: 'package-install', message: 'Installs packages when it runs', in: 'code' }, [
		'[\'"]pip[\\d.]{0,4}[\'"]\\s{0,4},\\s{0,4}[\'"]install[\'"]|[\'"]npm[\'"]\\s{0,4},\\s{0,4}\\[?\\s{0,4}[\'"](?:install|i|ci|add)[\'"]|\\bpip\\.main\\s{0,4}\\(|\\bensurepip\\b|\\b(?:npx|uvx|pnpm\\s{1,4}dlx|bunx)\\s{1,4}(?:-y\\s{1,4}|--yes\\s{1,4})?[@\\w]'
	]),
	...rules({ severity: 'warning', kind: 'privilege', message: 'Requests administrator rights', in: 'code' }, [
		'(?:^|[\\s;&|(\'"`])(?:sudo|doas|pkexec|runas|su\\s{1,4}-)\\s|\\bsetuid\\s{0,4}\\(\\s{0,4}0'
	]),
	...rules({ severity: 'danger', kind: 'privilege', message: 'Breaks out of a container' }, [
		'\\bdocker\\.sock\\b|--privileged\\b|\\bnsenter\\b|\\bunshare\\s{1,4}-|\\/proc\\/sys\\/kernel\\/core_pattern|\\/proc\\/1\\/root|--pid[= ]host'
	]),
	...rules({ severity: 'warning', kind: 'agent-configuration', message: 'Uses settings of an agent or editor' }, [
		'\\.claude[\\/\\\\](?:settings|hooks|commands|agents)|\\.cursor[\\/\\\\]|\\.vscode[\\/\\\\](?:settings|tasks)|\\bmcp(?:_config|_servers|\\.json)\\b|claude_desktop_config|\\.codex[\\/\\\\]|copilot-instructions'
	]),
	...rules({ severity: 'warning', kind: 'covers-tracks', message: 'Hides that it ran' }, [
		'\\bhistory\\s{1,4}-c\\b|HISTFILE=|unset\\s{1,4}HIST|\\.(?:bash|zsh)_history\\b|\\bHISTSIZE=0|\\bset\\s{1,4}\\+o\\s{1,4}history'
	]),
	...rules({ severity: 'info', kind: 'runs-commands', message: 'Runs other programs', in: 'code' }, [
		'\\bsubprocess\\.|\\bos\\.(?:system|popen|exec[lv]|spawn)|\\bchild_process\\b|\\bDeno\\.(?:Command|run)\\b|\\bBun\\.spawn\\b|\\bctypes\\.'
	])
];
