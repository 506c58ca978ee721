import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthSecretService

/// The keyring store while GNOME Keyring asks the user for the password, on a real display.
///
/// Each test also shows that the keyring survives: `PrivateDesktop` records an issue if it does not.
@Suite(.timeLimit(.minutes(2)), .requires(.passwordPrompt)) struct KeyringPromptTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(
    _ desktop: PrivateDesktop, limit: Duration = .seconds(60),
    whenWaiting: (@Sendable () -> Void)? = nil
  ) -> SecretServiceTokenStore {
    SecretServiceTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, limit: limit,
      whenWaiting: whenWaiting)
  }

  /// Creates a session whose keyring is locked and has the account "a", so the next call prompts.
  private func askingDesktop() async throws -> (PrivateDesktop, PasswordPrompt) {
    let desktop = try await PrivateDesktop(keyring: true)
    try await store(desktop).save(record("a"))
    try await desktop.killKeyring()
    try await desktop.startKeyring(unlocked: false)
    return (desktop, try await PasswordPrompt(on: desktop))
  }

  @Test func `the user's answer to a prompt unlocks the keyring for the call that waits`()
    async throws
  {
    let (desktop, prompt) = try await askingDesktop()
    let store = store(desktop)
    async let loaded = store.load("a")
    try await prompt.answer()
    #expect(try await loaded == record("a"))
    await prompt.stop()
    await desktop.stop()
  }

  @Test func `a call with an unanswered prompt fails at the time limit`() async throws {
    let (desktop, prompt) = try await askingDesktop()
    let waits = Locked(0)
    // The app is notified after half of the limit.
    let store = store(desktop, limit: .seconds(4)) { waits.withLock { $0 += 1 } }
    let error = await failure(.storeFailed) { try await store.load("a") }
    #expect(error?.message.contains("did not answer within") == true)
    #expect(waits.withLock(\.self) == 1, "the app was notified that the user may be asked")
    await desktop.stop()
    await prompt.stop()
  }

  /// GNOME Keyring would abort if the prompt were dismissed.
  @Test func `a cancelled call leaves its prompt on the screen, and the answer serves later calls`()
    async throws
  {
    let (desktop, prompt) = try await askingDesktop()
    let store = store(desktop)
    let loading = Task { await failure(.cancelled) { try await store.load("a") } }
    try await prompt.isShown()
    loading.cancel()
    #expect(await loading.value?.message.contains("cancelled") == true)
    async let loaded = store.load("a")
    try await prompt.answer()
    #expect(try await loaded == record("a"))
    await prompt.stop()
    await desktop.stop()
  }

  @Test func `cancelled and timed-out calls share one prompt, and its answer serves a later call`()
    async throws
  {
    let (desktop, prompt) = try await askingDesktop()
    let loading = Task { await failure(.cancelled) { try await store(desktop).load("a") } }
    try await prompt.isShown()
    loading.cancel()
    _ = await loading.value
    let impatient = store(desktop, limit: .seconds(1))
    for _ in 0..<2 {
      let error = await failure(.storeFailed) { try await impatient.load("a") }
      #expect(error?.message.contains("did not answer within 1 s") == true)
    }
    let prompts = try await desktop.call(
      "/org/freedesktop/secrets/prompt", "org.freedesktop.DBus.Introspectable.Introspect")
    #expect(prompts.matches(of: /<node name=/).count == 1, "\(prompts)")
    try await prompt.answer()
    #expect(try await store(desktop).load("a") == record("a"))
    await prompt.stop()
    await desktop.stop()
  }

  @Test func `if the user refuses a prompt, a waiting call fails, and the next call asks again`()
    async throws
  {
    let (desktop, prompt) = try await askingDesktop()
    let store = store(desktop)
    let loading = Task { await failure(.cancelled) { try await store.load("a") } }
    try await prompt.isShown()
    loading.cancel()
    _ = await loading.value
    let waits = AsyncStream.makeStream(of: Void.self)
    let waiting = self.store(desktop) { waits.continuation.yield() }
    async let refused = failure(.storeFailed) { try await waiting.load("a") }
    // The store reports here that its call has been waiting for some seconds.
    _ = await waits.stream.first { true }
    try await prompt.refuse()
    #expect(await refused?.message.contains("was not unlocked") == true)
    async let loaded = store.load("a")
    try await prompt.answer()
    #expect(try await loaded == record("a"))
    await prompt.stop()
    await desktop.stop()
  }

  @Test(arguments: [true, false])
  func `a keyring that freezes or dies during a prompt does not block the caller`(
    freezes: Bool
  ) async throws {
    let (desktop, prompt) = try await askingDesktop()
    // The store waits for a frozen keyring until the limit. The limit must be long enough for the
    // prompt to appear.
    let store = store(desktop, limit: freezes ? .seconds(8) : .seconds(60))
    let loading = Task { await failure(.storeFailed) { try await store.load("a") } }
    try await prompt.isShown()
    if freezes { try await desktop.freezeKeyring() } else { try await desktop.killKeyring() }
    let error = await loading.value
    let reason = freezes ? "did not answer within" : "was not unlocked"
    #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    desktop.thawKeyring()
    await prompt.stop()
    await desktop.stop()
  }
}
