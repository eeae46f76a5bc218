import { LUA_REGISTRYINDEX, LuaFactory, type LuaState, type LuaWasm } from 'wasmoon';

/** What a command answers: text, a number, nothing or a list. Each character of a text is a byte. */
export type Reply = string | number | null | readonly Reply[];

/** A Redis command with its arguments. Each character of an argument is a byte. */
export type Command = readonly string[];

/** The C API of Lua, without the conversion of strings between UTF-8 and UTF-16. */
interface LuaApi {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  addFunction(callback: (state: LuaState) => number, signature: string): number;
  _lua_gettop(state: LuaState): number;
  _lua_settop(state: LuaState, index: number): void;
  _lua_type(state: LuaState, index: number): number;
  _lua_rawlen(state: LuaState, index: number): number;
  _lua_tolstring(state: LuaState, index: number, length: number): number;
  _lua_toboolean(state: LuaState, index: number): number;
  _lua_tonumberx(state: LuaState, index: number, isNumber: number): number;
  _lua_pushlstring(state: LuaState, bytes: number, length: number): number;
  _lua_pushnumber(state: LuaState, value: number): void;
  _lua_pushboolean(state: LuaState, value: number): void;
  _lua_createtable(state: LuaState, elements: number, fields: number): void;
  _lua_rawgeti(state: LuaState, index: number, at: bigint): number;
  _lua_rawseti(state: LuaState, index: number, at: bigint): void;
}

const types = { nil: 0, boolean: 1, number: 3, string: 4, table: 5 };

/**
 * Redis runs Lua 5.1. `pairs` sorts, because the order of a table differs between processes.
 */
const environment = `
unpack = table.unpack
redis = { call = call, pcall = call }
local next_of = next
function pairs(of)
  local names = {}
  for name in next_of, of do names[#names + 1] = name end
  table.sort(names)
  local at = 0
  return function()
    at = at + 1
    local name = names[at]
    if name ~= nil then return name, of[name] end
  end
end
`;

/** Runs Lua scripts as Redis does, one at a time. */
export class Lua {
  readonly #lua: LuaWasm;
  readonly #api: LuaApi;
  readonly #state: LuaState;
  /** Holds bytes on their way to Lua. */
  #buffer: { readonly at: number; readonly bytes: number };
  #bytes: Buffer = Buffer.alloc(0);
  /** Holds the length of a string that Lua returns. */
  readonly #length: number;
  /** Compiled scripts in Lua's registry, by source. */
  readonly #compiled = new Map<string, number>();
  #call: (command: Command) => Reply = () => null;
  #failure: unknown;

  static async load(): Promise<Lua> {
    return new Lua(await new LuaFactory().getLuaModule());
  }

  private constructor(lua: LuaWasm) {
    this.#lua = lua;
    this.#api = lua.module as unknown as LuaApi;
    this.#state = lua.luaL_newstate();
    this.#buffer = { at: this.#api._malloc(1 << 16), bytes: 1 << 16 };
    this.#length = this.#api._malloc(4);
    lua.luaL_openlibs(this.#state);
    const call = this.#api.addFunction((state) => this.#callCommand(state), 'ii');
    lua.lua_pushcclosure(this.#state, call, 0);
    lua.lua_setglobal(this.#state, 'call');
    this.#check(lua.luaL_loadstring(this.#state, environment));
    this.#check(lua.lua_pcallk(this.#state, 0, 0, 0, 0, null));
  }

  /** @throws Error of the script or of one of its commands */
  run(source: string, keys: readonly string[], args: readonly string[], call: (command: Command) => Reply): Reply {
    const script = this.#compile(source);
    this.#call = call;
    this.#failure = undefined;
    this.#api._lua_rawgeti(this.#state, LUA_REGISTRYINDEX, BigInt(script));
    this.#push(this.#state, keys);
    this.#push(this.#state, args);
    this.#check(this.#lua.lua_pcallk(this.#state, 2, 1, 0, 0, null));
    const reply = this.#read(this.#state, -1);
    this.#api._lua_settop(this.#state, 0);
    return reply;
  }

  #compile(source: string): number {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    // The first line is for Redis.
    const body = source.slice(source.indexOf('\n') + 1);
    this.#check(this.#lua.luaL_loadstring(this.#state, `return function(KEYS, ARGV)\n${body}\nend`));
    this.#check(this.#lua.lua_pcallk(this.#state, 0, 1, 0, 0, null));
    const compiled = this.#lua.luaL_ref(this.#state, LUA_REGISTRYINDEX);
    this.#compiled.set(source, compiled);
    return compiled;
  }

  #check(status: number): void {
    if (status === 0) return;
    const reason = this.#failure ?? new Error(`Lua: ${String(this.#read(this.#state, -1))}`);
    this.#api._lua_settop(this.#state, 0);
    throw reason;
  }

  #callCommand(state: LuaState): number {
    const command = Array.from({ length: this.#api._lua_gettop(state) }, (_, i) => String(this.#read(state, i + 1)));
    try {
      this.#push(state, this.#call(command));
      return 1;
    } catch (error) {
      this.#failure = error;
    }
    this.#push(state, 'the command failed');
    return this.#lua.lua_error(state);
  }

  #push(state: LuaState, reply: Reply): void {
    const api = this.#api;
    if (reply === null) api._lua_pushboolean(state, 0);
    else if (typeof reply === 'number') api._lua_pushnumber(state, reply);
    else if (typeof reply === 'string') this.#pushText(state, reply);
    else {
      api._lua_createtable(state, reply.length, 0);
      for (let i = 0; i < reply.length; i++) {
        this.#push(state, reply[i] ?? null);
        api._lua_rawseti(state, -2, BigInt(i + 1));
      }
    }
  }

  #pushText(state: LuaState, text: string): void {
    if (text.length > this.#buffer.bytes) {
      this.#api._free(this.#buffer.at);
      this.#buffer = { at: this.#api._malloc(2 * text.length), bytes: 2 * text.length };
    }
    const { at } = this.#buffer;
    this.#memory.write(text, at, 'latin1');
    this.#api._lua_pushlstring(state, at, text.length);
  }

  /** As Redis converts what a script returns: numbers lose their fraction, a list ends before the first nil. */
  #read(state: LuaState, index: number): Reply {
    const api = this.#api;
    switch (api._lua_type(state, index)) {
      case types.number:
        return Math.trunc(api._lua_tonumberx(state, index, 0));
      case types.string:
        return this.#readText(state, index);
      case types.boolean:
        return api._lua_toboolean(state, index) === 0 ? null : 1;
      case types.table:
        return this.#readList(state, index);
      default:
        return null;
    }
  }

  #readText(state: LuaState, index: number): string {
    const at = this.#api._lua_tolstring(state, index, this.#length);
    const memory = this.#memory;
    return memory.toString('latin1', at, at + memory.readUInt32LE(this.#length));
  }

  /** Lua's memory, which moves when it grows. */
  get #memory(): Buffer {
    const { buffer } = this.#api.HEAPU8;
    if (this.#bytes.buffer !== buffer) this.#bytes = Buffer.from(buffer);
    return this.#bytes;
  }

  #readList(state: LuaState, index: number): readonly Reply[] {
    const list: Reply[] = [];
    const table = index < 0 ? this.#api._lua_gettop(state) + 1 + index : index;
    for (let i = 1; i <= this.#api._lua_rawlen(state, table); i++) {
      this.#api._lua_rawgeti(state, table, BigInt(i));
      list.push(this.#read(state, -1));
      this.#api._lua_settop(state, -2);
    }
    return list;
  }
}
