import SQFoundation
import SequencingOAuth

extension Coordinator {
  /// The state of the main screen: a session with its token, its files and its notifications.
  struct Main: Sendable, Equatable {
    var token: SQToken
    var user: String?
    var files = Files.unread
    /// The state of the gRPC call; `nil` if there is no server to call.
    var call: Call?
    /// Whether a refresh that the user asked for is in progress.
    var isRefreshing = false
    /// Whether the server has ended the session and the app does not know it yet.
    var isOverAtServer = false
    /// The SDK's notifications about the token, newest first.
    var news: [News] = []

    init(_ token: SQToken, user: String? = nil, files: Files = .unread) {
      self.token = token
      self.user = user
      self.files = files
    }
  }

  /// The user's files, or the state of reading them.
  enum Files: Sendable, Equatable {
    case unread
    case reading
    case read([DriveFile], isAll: Bool)
    case failed(code: String, message: String)
  }

  /// A gRPC call with the user's token.
  enum Call: Sendable, Equatable {
    case notMade
    case waiting
    case done(String)
    case failed(message: String)
  }

  /// A notification of the SDK, with its time.
  struct News: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
      case refreshed
      case failed(code: String, message: String)
      case notRevoked(code: String, message: String)
    }

    let kind: Kind
    let date: Date
  }
}

extension Coordinator.Main {
  /// The maximum number of notifications that are kept.
  static let mostNews = 5

  mutating func handle(_ event: Coordinator.Event) -> Coordinator.Action? {
    switch event {
    case .userIsKnown(let user):
      self.user = user
      if files == .unread { return readFiles() }
      return files == .reading ? nil : firstCall()
    case .readFiles where files != .reading:
      return readFiles()
    case .filesAreRead(.failed(SQOAuthError.Code.sessionReplaced.rawValue, _)):
      // It was a request of an earlier user.
      return files == .reading ? .readFiles : nil
    case .filesAreRead(let files):
      self.files = files
      return firstCall()
    case .call where call != nil && call != .waiting:
      return makeCall()
    case .callWithBadToken where call != nil && call != .waiting:
      call = .waiting
      return .callWithBadToken
    case .callHasEnded(let call) where self.call != .notMade:
      // Before the first call of this user, it was a call of an earlier user.
      self.call = call
    case .refresh where !isRefreshing:
      isRefreshing = true
      return .refresh
    case .refreshHasEnded:
      isRefreshing = false
    case .tokenIsRefreshed(let token, let date):
      self.token = token
      add(.refreshed, at: date)
    case .tokenRefreshDidFail(let code, let message, let date):
      add(.failed(code: code, message: message), at: date)
    case .endSessionAtServer:
      // The screen changes later, when the SDK reports the end of the session.
      isOverAtServer = true
      return .endSessionAtServer
    case .revoke:
      // The screen changes later, when the SDK reports the end of the session.
      return .revoke
    case .revocationDidFail(let code, let message, let date):
      add(.notRevoked(code: code, message: message), at: date)
    default:
      break
    }
    return nil
  }

  private mutating func readFiles() -> Coordinator.Action {
    // The files from the last answer stay until the new answer arrives.
    if case .read = files {} else { files = .reading }
    return .readFiles
  }

  /// Makes the first call automatically, after the files were read.
  private mutating func firstCall() -> Coordinator.Action? {
    call == .notMade ? makeCall() : nil
  }

  private mutating func makeCall() -> Coordinator.Action {
    call = .waiting
    return .call
  }

  private mutating func add(_ kind: Coordinator.News.Kind, at date: Date) {
    // If a failure is repeated, or both the delegate and the caller report it, it is shown once.
    if kind != .refreshed, news.first?.kind == kind { news.removeFirst() }
    news.insert(Coordinator.News(kind: kind, date: date), at: 0)
    news = Array(news.prefix(Self.mostNews))
  }
}
