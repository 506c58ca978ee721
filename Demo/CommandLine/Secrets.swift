import Glibc

/// What a person must never give as an argument: it comes from the environment or a file.
struct Secrets: Sendable {
  var client: ClientSecret?
  var passphrase: Passphrase?
  var accessToken: GivenToken?

  /// The secrets in the environment, which are taken out of it: a browser must not inherit them.
  ///
  /// Call it before there is a second thread.
  static func takeFromEnvironment() -> Secrets {
    Secrets(
      client: take(ClientSecret.variable).map { ClientSecret($0) },
      passphrase: take(Passphrase.variable).map { Passphrase($0) },
      accessToken: take(GivenToken.variable).map { GivenToken($0) })
  }

  private static func take(_ variable: String) -> String? {
    guard let value = getenv(variable).map({ String(cString: $0) }) else { return nil }
    unsetenv(variable)
    return value.isEmpty ? nil : value
  }

  /// Says why a secret cannot be an argument, to a person who tries.
  static func refuseAsArgument(_ name: String) throws(Failure) {
    let (what, variable, option): (String, String, Option?)
    switch name {
    case "--client-secret", "--secret":
      (what, variable, option) = ("a secret", ClientSecret.variable, .clientSecretFile)
    case "--passphrase", "--password":
      (what, variable, option) = ("a passphrase", Passphrase.variable, .passphraseFile)
    case "--access-token":
      (what, variable, option) = ("a token", GivenToken.variable, nil)
    default:
      return
    }
    throw .usage(
      "\(what) is never an argument, since every user of the machine can see those; put it into "
        + "the environment variable \(variable)"
        + (option.map { ", or into a file that \($0.name) names" } ?? ""))
  }

  /// The first line of a file.
  static func firstLine(of path: String, _ what: String) throws(Failure) -> String {
    let content: String
    do throws(FileReading.ReadError) {
      content = try read(path)
    } catch {
      throw .unreadable("the \(what) file \(path)", error)
    }
    // By bytes, since a carriage return and a newline are one Character.
    let line = content.utf8.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.isEmpty else {
      throw .usage("the \(what) file \(path.printable) has an empty first line")
    }
    return String(Substring(line))
  }

  private static func read(_ path: String) throws(FileReading.ReadError) -> String {
    // Longer than any secret, and short enough for a path that never ends.
    let bytes = try FileReading.start(of: path, atMost: 64 * 1024)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileReading.ReadError("it is not text in UTF-8")
    }
    return text
  }
}
