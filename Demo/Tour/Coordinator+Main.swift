import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Coordinator {
  /// A session that is under way.
  struct Main: Sendable, Equatable {
    var token: SQToken
    var user: String?
    var files = Files.unread
    /// What became of the gRPC call; `nil` without a server to call.
    var call: Call?
    /// Whether the person asked for a refresh that has not ended.
    var isRefreshing = false
    /// Whether the server has ended the session, of which the app does not know yet.
    var isOverAtServer = false
    /// What the SDK told of the token, the newest first.
    var news: [News] = []

    init(_ token: SQToken, user: String? = nil, files: Files = .unread) {
      self.token = token
      self.user = user
      self.files = files
    }
  }

  /// The user's files, as far as they are known.
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

  /// One notification, and when it came.
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
  /// As many notifications as are kept.
  static let mostNews = 5

  mutating func handle(_ event: Coordinator.Event) -> Coordinator.Action? {
    switch event {
    case .userIsKnown(let user):
      self.user = user
      if files == .unread { return readFiles() }
      return files == .reading ? nil : firstCall()
    case .readFiles where files != .reading:
      return readFiles()
    case .filesAreRead(let files):
      self.files = files
      return firstCall()
    case .call where call != nil && call != .waiting:
      return makeCall()
    case .callHasEnded(let call):
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
      // The screen changes when the SDK tells that the session is over.
      isOverAtServer = true
      return .endSessionAtServer
    case .revoke:
      // Here too.
      return .revoke
    case .revocationDidFail(let code, let message, let date):
      add(.notRevoked(code: code, message: message), at: date)
    default:
      break
    }
    return nil
  }

  private mutating func readFiles() -> Coordinator.Action {
    // What was read before stays until the answer is there.
    if case .read = files {} else { files = .reading }
    return .readFiles
  }

  /// The call that is made without being asked for, once the files are there.
  private mutating func firstCall() -> Coordinator.Action? {
    call == .notMade ? makeCall() : nil
  }

  private mutating func makeCall() -> Coordinator.Action {
    call = .waiting
    return .call
  }

  private mutating func add(_ kind: Coordinator.News.Kind, at date: Date) {
    // A failure that goes on, or that whoever asked for the refresh was told too, is one.
    if kind != .refreshed, news.first?.kind == kind { news.removeFirst() }
    news.insert(Coordinator.News(kind: kind, date: date), at: 0)
    news = Array(news.prefix(Self.mostNews))
  }
}
