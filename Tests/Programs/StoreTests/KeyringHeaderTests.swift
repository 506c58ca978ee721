import Foundation
import ProgramSupport
import TestSupport
import Testing

/// Compares the declarations of GLib and libsecret in the module `CSQSecret` with the real headers.
@Suite(.timeLimit(.minutes(2))) struct KeyringHeaderTests {
  private static let module = PackageSources.root.appending(path: "Sources/CSQSecret/include").path
  private static let theirs = "#include <libsecret/secret.h>\n"
  private static let ours = "#include <stddef.h>\n#include \"secret-types.h\"\n"

  @Test func `each declared C function has the signature of its library's header`() async throws {
    let functions = try String(contentsOfFile: Self.module + "/functions.h", encoding: .utf8)
    let names = functions.matches(of: /\bSQ_FUNCTION\([^,]+, (\w+),/).map(\.1)
    #expect(names.count > 60)
    // Some functions are also macros in their own headers.
    let source =
      Self.theirs + names.map { "#undef \($0)\n" }.joined()
      + "#define SQ_FUNCTION(result, name, parameters) result name parameters;\n"
      + "#include \"functions.h\"\n"
    let result = try await Self.compile(source)
    #expect(result.status == 0, "\(result.errors)")
    let wrong = try await Self.compile(source + "\nvoid g_free(int memory);\n")
    #expect(wrong.status != 0 && wrong.errors.contains("conflicting types for 'g_free'"))
  }

  @Test func `the C types and constants that the SDK uses equal those of the libraries' headers`()
    async throws
  {
    let theirs = try await Self.layout(Self.theirs)
    #expect(theirs.contains("sizeof(SecretServiceClass) = "))
    #expect(try await Self.layout(Self.ours) == theirs)
  }

  @Test func `the module declares no C function, type or constant that nothing uses`() throws {
    let headers = try Self.text("Sources/CSQSecret/include", ".h")
    let code =
      try Self.text("Sources/CSQSecret", ".c")
      + Self.text("Sources/SequencingOAuthSecretService", ".swift")
    let functions = headers.matches(of: /\nSQ_FUNCTION\([^,]+, (\w+),/).map(\.1)
    let constants = headers.matches(of: #/\b((?:G|SECRET)_[A-Z0-9_]+) = /#).map(\.1)
    #expect(functions.count > 60 && constants.count > 20)
    let used = Self.words(code)
    #expect((functions + constants).filter { !used.contains($0) } == [])
    let declaration = /typedef struct _\w+ (\w+);/
    let types = headers.matches(of: declaration).map(\.1)
    let usedTypes = Self.words(headers.replacing(declaration, with: "") + code)
    #expect(types.count > 20 && types.filter { !usedTypes.contains($0) } == [])
  }

  /// A plugin of the process may contain another copy of the SDK.
  @Test func `two copies of the module work in one process`() async throws {
    let folder = try TemporaryFolder()
    let source = PackageSources.root.appending(path: "Sources/CSQSecret").path
    for name in ["a", "b"] {
      let built = try await ChildProcess.run([
        "clang", "-shared", "-fPIC", "-I", Self.module, "\(source)/service.c",
        "\(source)/library.c", "-o", folder.file(name),
      ])
      try #require(built.status == 0, "\(built.errors)")
    }
    let program = """
      #include <dlfcn.h>
      #include <stdlib.h>
      #include "service.h"
      int main(int count, char **files) {
        void *library = dlopen("libsecret-1.so.0", RTLD_NOW);
        for (int i = 1; i < count; i++) {
          void *copy = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
          const char *(*find)(void *, SQSecretFunctions *) = dlsym(copy, "sq_secret_functions_find");
          void (*enter)(const SQSecretFunctions *) = dlsym(copy, "sq_secret_service_register");
          SQSecretFunctions *functions = malloc(sizeof *functions);
          if (find(library, functions) != NULL) return 2;
          enter(functions);
        }
        return 0;
      }
      """
    let compiled = try await Self.compile(
      "#include <stddef.h>\n" + program, ["-o", folder.file("main")])
    try #require(compiled.status == 0, "\(compiled.errors)")
    // GLib would end the program at its warning about a class that is registered twice.
    let result = try await ChildProcess.run(
      [folder.file("main"), folder.file("a"), folder.file("b")],
      environment: ["G_DEBUG": "fatal-warnings"])
    #expect(result.status == 0, "\(result.errors)")
  }

  private static func text(_ folder: String, _ suffix: String) throws -> String {
    let folder = PackageSources.root.appending(path: folder).path
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(suffix) }
      .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }.joined()
  }

  private static func words(_ text: String) -> Set<Substring> {
    Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
  }

  /// Returns the numbers, sizes and offsets that a program prints if it is compiled with
  /// `declarations`.
  private static func layout(_ declarations: String) async throws -> String {
    let enumerators = try ["gio-types.h", "secret-types.h"].flatMap { header in
      try String(contentsOfFile: module + "/" + header, encoding: .utf8)
        .matches(of: #/\b((?:G|SECRET)_[A-Z0-9_]+) = /#).map { String($0.1) }
    }
    let expressions =
      enumerators + ["G_MAXINT"] + types.map { "sizeof(\($0))" }
      + members.map { "offsetof(\($0))" }
    let lines = expressions.map { #"  printf("%s = %lld\n", "\#($0)", (long long)(\#($0)));"# }
    let folder = try TemporaryFolder()
    let program = folder.file("layout")
    let source =
      declarations + "#include <stdio.h>\nint main(void) {\n"
      + lines.joined(separator: "\n") + "\n  return 0;\n}\n"
    let compiled = try await compile(source, ["-o", program])
    try #require(compiled.status == 0, "\(compiled.errors)")
    return try await ChildProcess.run([program]).output
  }

  private static let types = [
    "gchar", "gint", "gboolean", "guint", "gsize", "gssize", "guint32", "guint64", "gpointer",
    "GQuark", "GType", "GError", "GList", "GTypeClass", "GTypeInstance", "GTypeFlags", "GObject",
    "GObjectClass", "GCancellable", "GDBusProxy", "GDBusProxyClass", "GBusType",
    "GDBusConnectionFlags", "SecretService", "SecretServiceClass", "SecretCollection", "SecretItem",
    "SecretPrompt", "SecretSchema", "SecretSchemaAttribute", "SecretSearchFlags",
    "SecretCollectionFlags", "SecretCollectionCreateFlags", "GDBusProxyFlags", "GDBusCallFlags",
  ]
  private static let members = [
    "GError, domain", "GError, code", "GError, message", "GList, data", "GList, next",
    "GObjectClass, constructor", "SecretServiceClass, parent_class",
    "SecretServiceClass, prompt_sync", "SecretServiceClass, prompt_async",
    "SecretServiceClass, prompt_finish", "SecretSchema, name", "SecretSchema, flags",
    "SecretSchema, attributes", "SecretSchema, reserved", "SecretSchemaAttribute, name",
    "SecretSchemaAttribute, type",
  ]

  /// Compiles a program, or only checks it, with the folders of libsecret's headers.
  private static func compile(
    _ source: String, _ options: [String] = ["-fsyntax-only"]
  ) async throws -> ChildProcess.Result {
    try await CCompiler.compile(
      source,
      ["-Wall", "-Werror", "-I", module] + options + CCompiler.flags(of: "libsecret-1"))
  }
}
