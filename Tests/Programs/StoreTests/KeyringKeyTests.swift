import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The keyring store if the keyring computes another session key than libsecret.
///
/// KWallet before 6.25 does so in about one session of 200. Then each side decrypts the other
/// side's data to wrong bytes, and usually notices this by the wrong padding. GNOME Keyring never
/// computes another key. So a library between the store and libsecret plays the fault: it returns
/// or saves wrong bytes, or returns no bytes.
@Suite(
  .timeLimit(.minutes(2)), .requires(.keyring), .requires(ProgramRequirement(programs: ["clang"])))
struct KeyringKeyTests {
  private let folder: TemporaryFolder
  private let library: String

  init() throws {
    folder = try TemporaryFolder()
    library = folder.file("libsecret.so")
  }

  /// The code of a library that calls libsecret, but gets its first reads or saves wrong.
  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stddef.h>
    #include <stdio.h>

    typedef void *Value(const char *, ptrdiff_t, const char *);
    typedef void *Secret(void *);
    typedef int Store(void *, const void *, void *, const char *, const char *, void *, void *,
                      void **);
    typedef void *Search(void *, const void *, void *, int, void *, void **);

    static void *other(void) {
      return ((Value *)dlsym(RTLD_NEXT, "secret_value_new"))("\\x9a other", 7, "text/plain");
    }

    void *secret_item_get_secret(void *item) {
      static int left = READS;
      Secret *real = (Secret *)dlsym(RTLD_NEXT, "secret_item_get_secret");
      if (left-- <= 0) return real(item);
      return NOTHING ? NULL : other();
    }

    int secret_service_store_sync(void *service, const void *schema, void *table,
                                  const char *collection, const char *label, void *value,
                                  void *cancellable, void **error) {
      static int left = SAVES;
      Store *real = (Store *)dlsym(RTLD_NEXT, "secret_service_store_sync");
      return real(service, schema, table, collection, label, left-- > 0 ? other() : value,
                  cancellable, error);
    }

    void *secret_service_search_sync(void *service, const void *schema, void *table, int flags,
                                     void *cancellable, void **error) {
      FILE *log = fopen(LOG, "a");
      fprintf(log, "%p\\n", service);
      fclose(log);
      Search *real = (Search *)dlsym(RTLD_NEXT, "secret_service_search_sync");
      return real(service, schema, table, flags, cancellable, error);
    }
    """

  /// Builds the library, whose first `reads` reads and first `saves` saves go wrong.
  private func build(
    reads: Int = 0, areEmpty: Bool = false, saves: Int = 0
  ) async throws {
    let file = folder.file("libsecret.c")
    try Data(Self.source.utf8).write(to: URL(filePath: file))
    let result = try await ChildProcess.run([
      "clang", "-shared", "-fPIC", "-o", library, file, "-DREADS=\(reads)", "-DSAVES=\(saves)",
      "-DNOTHING=\(areEmpty ? 1 : 0)", "-DLOG=\"\(folder.file("searches"))\"",
      "-Wl,--no-as-needed", "-l:libsecret-1.so.0",
    ])
    try #require(result.status == 0, "\(result.errors)")
  }

  /// Returns a store that calls the library or, with `direct`, libsecret itself.
  private func store(
    _ desktop: PrivateDesktop, direct: Bool = false
  ) -> SecretServiceTokenStore {
    SecretServiceTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, library: direct ? nil : library)
  }

  /// Returns the number of searches since the last call of this method.
  private func searches() throws -> Int {
    let log = folder.file("searches")
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    try FileManager.default.removeItem(atPath: log)
    return lines.count
  }

  @Test(arguments: [false, true])
  func `an account that the first session cannot read is read in a second session`(
    isEmpty: Bool
  ) async throws {
    try await build(reads: 1, areEmpty: isEmpty)
    let desktop = try await PrivateDesktop(keyring: true)
    try await store(desktop, direct: true).save(record("a"))
    #expect(try await store(desktop).load("a") == record("a"))
    await desktop.stop()
  }

  @Test(arguments: [false, true])
  func `a list has all accounts, even if the first session reads other bytes`(
    isEmpty: Bool
  ) async throws {
    try await build(reads: 1, areEmpty: isEmpty)
    let desktop = try await PrivateDesktop(keyring: true)
    let direct = store(desktop, direct: true)
    try await direct.save(record("a"))
    try await direct.save(record("b"))
    #expect(try await store(desktop).all() == [record("a"), record("b")])
    await desktop.stop()
  }

  @Test func `an account that looks damaged is replaced in a second session`() async throws {
    try await build(reads: 1)
    let desktop = try await PrivateDesktop(keyring: true)
    let direct = store(desktop, direct: true)
    try await direct.save(record("a"))
    let newer = record("a", token: SQToken(accessToken: "newer"))
    try await store(desktop).save(newer)
    #expect(try await direct.load("a") == newer)
    await desktop.stop()
  }

  @Test func `a new account that the keyring saved as other bytes is saved again`() async throws {
    try await build(saves: 1)
    let desktop = try await PrivateDesktop(keyring: true)
    try await store(desktop).save(record("a"))
    #expect(try await store(desktop, direct: true).all() == [record("a")])
    await desktop.stop()
  }

  @Test func `a keyring that always saves other bytes causes an error and keeps no item`()
    async throws
  {
    try await build(saves: 100)
    let desktop = try await PrivateDesktop(keyring: true)
    let error = await failure(.storeFailed) { try await store(desktop).save(record("a")) }
    #expect(error?.message.contains("saved other bytes than it was given") == true)
    let direct = store(desktop, direct: true)
    #expect(try await direct.load("a") == nil)
    try await direct.save(record("a"))
    await desktop.stop()
  }

  @Test func `damage that a second session confirms causes no third session`() async throws {
    try await build()
    let desktop = try await PrivateDesktop(keyring: true)
    let digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    let result = try await ChildProcess.run(
      ["secret-tool", "store", "--label=other", "oauth-service", "app", "oauth-account", digest],
      environment: desktop.environment, input: .text("damage"))
    try #require(result.status == 0, "\(result.errors)")
    let store = store(desktop)
    await failure(.storeDamaged) { try await store.load("a") }
    #expect(try searches() == 2)
    await failure(.storeDamaged) { try await store.load("a") }
    #expect(try searches() == 1)
    await desktop.stop()
  }
}
