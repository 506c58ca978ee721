/// The sources of a program with one screen of each kind, as a developer would first write them.
struct ScreenSources: Sendable {
  /// The language mode of the compiler.
  enum Mode: String, CaseIterable, Sendable {
    case swift6 = "Swift 6"
    case swift5 = "Swift 5"
    case mainActor = "default isolation: the main actor"
    case approachable = "default isolation: the main actor, with approachable concurrency"

    var options: [String] {
      switch self {
      case .swift6: ["-swift-version", "6"]
      case .swift5: ["-swift-version", "5"]
      case .mainActor: ["-swift-version", "6", "-default-isolation", "MainActor"]
      case .approachable:
        Self.mainActor.options
          + ["InferIsolatedConformances", "NonisolatedNonsendingByDefault"].flatMap {
            ["-enable-upcoming-feature", $0]
          }
      }
    }

    fileprivate var isMainActorDefault: Bool { self == .mainActor || self == .approachable }
  }

  /// A kind of class, with the code that checks that the SDK calls the class on the right actor or
  /// queue.
  private struct Kind {
    let name: String
    let declaration: String
    let check: String
    /// The text before the names of the protocols.
    var conformance = ""
  }

  let mode: Mode
  /// Whether the program's main code is `async`.
  let isAsync: Bool

  /// The file names and their content.
  var files: [String: String] {
    var files = ["Setting.swift": Self.setting, "main.swift": main]
    for kind in kinds {
      files[kind.name + ".swift"] = Self.screen
        .replacing("DECLARATION", with: kind.declaration + " " + kind.name)
        .replacing("CONFORMANCE ", with: kind.conformance)
        .replacing("CHECK", with: kind.check)
    }
    return files
  }

  private var kinds: [Kind] {
    let isDefault = mode.isMainActorDefault
    return [
      Kind(
        name: "PlainScreen", declaration: isDefault ? "nonisolated final class" : "final class",
        check: "dispatchPrecondition(condition: .onQueue(callbackQueue))"),
      Kind(
        name: "MainScreen", declaration: isDefault ? "final class" : "@MainActor final class",
        check: "MainActor.assertIsolated()"),
      Kind(name: "ScreenActor", declaration: "actor", check: "self.assertIsolated()"),
      Kind(
        name: "OtherScreen", declaration: "@OtherActor final class",
        check: "OtherActor.assertIsolated()",
        // If the main actor is the default, a conformance without `nonisolated` is isolated to
        // `OtherActor` and works only there.
        conformance: isDefault ? "nonisolated " : ""),
    ]
  }

  private static let screen = """
    import Dispatch
    import Foundation
    import SequencingOAuth
    import SequencingOAuthPipes

    DECLARATION: CONFORMANCE AuthorizationDelegate, CONFORMANCE TokenRefreshDelegate {
      var token: SQToken?
      var lines: [String] = []
      var fraction = 0.0
      var isDone: Bool { lines.count == 7 && token == nil }

      func show() {
        oauth.authorizationDelegate = self
        oauth.tokenRefreshDelegate = self
        oauth.authorizeUser()
      }

      func userIsSuccessfullyAuthorized(_ token: SQToken) {
        self.token = token
        add("authorized")
        oauth.refresh { result in
          self.token = try? result.get()
          self.add("fresh")
          self.upload()
        }
      }

      private func upload() {
        uploads.upload(
          .bytes(Data(count: 100_000)), returning: JSONValue.self,
          progress: {
            CHECK
            self.fraction = $0.fraction ?? 0
          },
          completion: { _ in
            self.add(self.fraction == 1 ? "uploaded" : "not uploaded")
            oauth.signOut { _ in self.add("out") }
          })
      }

      func userIsNotAuthorized() {
        add("not authorized")
      }

      func tokenIsRefreshed(_ token: SQToken) {
        add("refreshed")
        oauth.restore { _ in self.add("restored") }
      }

      func sessionDidEnd(_ reason: SessionEnd) {
        token = nil
        add("ended")
      }

      private func add(_ line: String) {
        CHECK
        lines.append(line)
        say(line)
      }
    }
    """

  /// The common code of the screens.
  private static let setting = """
    import Dispatch
    import Foundation
    import OAuthSandbox
    import SequencingOAuth
    import SequencingOAuthPipes

    // program ISSUER SCREEN QUEUE MAIN
    nonisolated let words = CommandLine.arguments
    nonisolated let privateQueue = DispatchQueue(label: "screens")
    nonisolated let isOnPrivateQueue = words[3] == "private"
    nonisolated let callbackQueue = isOnPrivateQueue ? privateQueue : .main

    nonisolated let oauth: SQOAuth = {
      let oauth = SQOAuth()
      oauth.registerApplicationParameters(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "profile files",
        provider: .issuer(words[1]))
      // The user, who signs in without a browser.
      oauth.environment.userAgent = CustomUserAgent { url in
        _ = try await SandboxVisitor().visit(url)
      }
      if isOnPrivateQueue { oauth.callbackQueue = privateQueue }
      return oauth
    }()

    nonisolated let uploads: Pipeline.Pipe = {
      guard let drive = try? Pipeline(words[1], module: oauth.module),
        let pipe = try? drive.add("upload", PipeConfiguration(endpoint: "upload/drive/v2/files"))
      else { fatalError("the upload pipe cannot be added") }
      if isOnPrivateQueue { drive.callbackQueue = privateQueue }
      return pipe
    }()

    nonisolated func say(_ line: String) {
      FileHandle.standardOutput.write(Data((line + "\\n").utf8))
    }

    /// Ends the program when a screen has received all expected calls.
    @MainActor func end(when isDone: @escaping @MainActor () async -> Bool) {
      Task {
        while await !isDone() { try await Task.sleep(for: .milliseconds(10)) }
        say("read")
        exit(0)
      }
    }

    @globalActor actor OtherActor {
      static let shared = OtherActor()
    }

    extension OtherScreen {
      /// Shows a screen, and returns a closure that tells whether it is done.
      nonisolated static func shown() -> @MainActor () async -> Bool {
        let screen = Task.detached {
          await makeAndShow()
        }
        return { await screen.value.isDone }
      }

      private static func makeAndShow() -> OtherScreen {
        let screen = OtherScreen()
        screen.show()
        return screen
      }
    }

    /// The owner of a screen that lives on the private queue.
    nonisolated final class Home: @unchecked Sendable {
      private var screen: PlainScreen?

      func showScreen() {
        privateQueue.async {
          self.screen = PlainScreen()
          self.screen?.show()
        }
      }

      func isDone() async -> Bool {
        await withCheckedContinuation { answer in
          privateQueue.async { answer.resume(returning: self.screen?.isDone ?? false) }
        }
      }
    }
    """

  private var main: String {
    """
    import Dispatch
    import Foundation

    @MainActor func start() {
      switch words[2] {
      case "PlainScreen" where isOnPrivateQueue:
        let home = Home()
        home.showScreen()
        end { await home.isDone() }
      case "PlainScreen":
        let screen = PlainScreen()
        screen.show()
        end { screen.isDone }
      case "MainScreen":
        let screen = MainScreen()
        screen.show()
        end { screen.isDone }
      case "ScreenActor":
        let screen = ScreenActor()
        Task.detached { await screen.show() }
        end { await screen.isDone }
      default:
        end(when: OtherScreen.shown())
      }
    }

    """ + (isAsync ? Self.asyncEnd : Self.synchronousEnd)
  }

  private static let asyncEnd = """
    start()
    while true { try await Task.sleep(for: .seconds(3600)) }
    """

  private static let synchronousEnd = """
    MainActor.assumeIsolated { start() }
    switch words[4] {
    case "blocked":
      say("blocked")
      _ = readLine()
      RunLoop.main.run()
    case "loop": RunLoop.main.run()
    default: dispatchMain()
    }
    """
}
