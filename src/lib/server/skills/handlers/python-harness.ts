/**
 * Calls `handler(args)` of a Python module, or runs it as a program with the arguments on stdin when it has none
 * (FEATURES D21). What it prints goes to stderr; stdout carries the one answer `{ok, value | error}`.
 */
export const PYTHON_HARNESS = `
import ast, asyncio, importlib.util, inspect, io, json, os, runpy, sys, traceback
answer = sys.stdout
sys.stdout = sys.stderr
call = json.load(sys.stdin)
path, args = call["path"], call["args"]
sys.path.insert(0, os.path.dirname(path))
code = 0
try:
    with open(path, encoding="utf-8") as source:
        body = ast.parse(source.read(), path).body
    def names(node):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return [getattr(target, "id", None) for target in getattr(node, "targets", None) or [node.target]]
        if isinstance(node, ast.ImportFrom):
            return [alias.asname or alias.name for alias in node.names]
        return [getattr(node, "name", None)]
    if any("handler" in names(node) for node in body):
        spec = importlib.util.spec_from_file_location("skill_handler", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        value = module.handler(args)
        if inspect.isawaitable(value):
            async def wait():
                return await value
            value = asyncio.run(wait())
    else:
        printed = io.StringIO()
        sys.stdout, sys.stdin, sys.argv = printed, io.StringIO(json.dumps(args)), [path]
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as stop:
            if stop.code not in (None, 0):
                raise RuntimeError("the program ended with code %s" % stop.code)
        finally:
            sys.stdout = sys.stderr
        value = printed.getvalue()
        try:
            value = json.loads(value)
        except ValueError:
            value = value.strip()
    result = json.dumps({"ok": True, "value": value}, allow_nan=False)
except BaseException as error:
    traceback.print_exc()
    code = 1
    result = json.dumps({"ok": False, "error": str(error) or type(error).__name__})
sys.stderr.flush()
answer.write(result)
answer.flush()
os._exit(code)
`;
