import SequencingOAuth

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Option {
  static let store = Option(
    "--store", value: "memory|file:PATH",
    help: "Where the account is kept: nowhere, or in a file that only you can read. The default "
      + "is the file sq-demo/tokens.json in your state folder; an account of the built-in "
      + "sandbox is kept only where this option says so.")
}

/// What `--store` asks for.
enum StoreOption: Sendable, Equatable {
  case memory
  case file(String)

  init?(_ text: String?) throws(Failure) {
    guard let text else { return nil }
    let kind = text.prefix { $0 != ":" }
    let path = String(text.dropFirst(kind.count + 1))
    switch kind {
    case "memory" where text == "memory":
      self = .memory
    case "file" where !path.isEmpty:
      self = .file(Self.expandingHome(path))
    default:
      throw .usage("--store takes memory or file:PATH, not \"\(text.printable)\"")
    }
  }

  /// The store, and where it is in words; without an option it is the user's own file.
  static func open(_ option: StoreOption?) throws(Failure) -> (any TokenStore, place: String?) {
    switch option {
    case .memory:
      return (MemoryTokenStore(), nil)
    case .file(let path):
      return (FileTokenStore(path: path), path)
    case nil:
      do throws(SQOAuthError) {
        let store = try FileTokenStore(service: "sq-demo")
        return (store, store.path)
      } catch {
        throw Failure(error)
      }
    }
  }

  /// A shell leaves the `~` of `file:~/tokens` alone.
  private static func expandingHome(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = getenv("HOME") else { return path }
    return String(cString: home) + path.dropFirst()
  }
}
