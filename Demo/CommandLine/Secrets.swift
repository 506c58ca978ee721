import Glibc

/// The secrets that a person gave the program in its environment.
struct Secrets: Sendable {
  var client: Secret?
  var passphrase: Secret?
  var accessToken: Secret?

  /// The secrets in the environment, which are taken out of it: a browser must not inherit them.
  ///
  /// Call it before there is a second thread.
  static func takeFromEnvironment() -> Secrets {
    Secrets(
      client: take(.clientSecret), passphrase: take(.passphrase), accessToken: take(.accessToken))
  }

  private static func take(_ kind: Secret.Kind) -> Secret? {
    guard let value = getenv(kind.variable).map({ String(cString: $0) }) else { return nil }
    unsetenv(kind.variable)
    return value.isEmpty ? nil : Secret(kind, value)
  }

  /// Says why a secret cannot be an argument, to a person who tries.
  static func refuseAsArgument(_ name: String) throws(Failure) {
    let (what, kind, option): (String, Secret.Kind, Option?)
    switch name {
    case "--client-secret", "--secret":
      (what, kind, option) = ("a secret", .clientSecret, .clientSecretFile)
    case "--passphrase", "--password":
      (what, kind, option) = ("a passphrase", .passphrase, .passphraseFile)
    case "--access-token":
      (what, kind, option) = ("a token", .accessToken, nil)
    default:
      return
    }
    throw .usage(
      "\(what) is never an argument, since every user of the machine can see those; put it into "
        + "the environment variable \(kind.variable)"
        + (option.map { ", or into a file that \($0.name) names" } ?? ""))
  }
}
