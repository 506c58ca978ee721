import SQBasics
import SQLibC

/// The secrets from the program's environment.
struct Secrets: Sendable {
  var client: Secret?
  var passphrase: Secret?
  var keyPassphrase: Secret?
  var accessToken: Secret?
  var databasePassword: Secret?
  var proxyPassword: Secret?

  /// Reads the secrets and removes them from the environment, so that a browser does not inherit
  /// them.
  ///
  /// Call it before the program has a second thread.
  static func takeFromEnvironment() throws(Failure) -> Secrets {
    Secrets(
      client: try take(.clientSecret), passphrase: try take(.passphrase),
      keyPassphrase: try take(.keyPassphrase), accessToken: try take(.accessToken),
      databasePassword: try take(.databasePassword), proxyPassword: try take(.proxyPassword))
  }

  private static func take(_ kind: Secret.Kind) throws(Failure) -> Secret? {
    let value: String?
    do throws(EnvironmentVariable.NotText) {
      value = try EnvironmentVariable.text(kind.variable)
    } catch {
      throw .usage("\(error), so the \(kind.name) cannot be read")
    }
    guard let value else { return nil }
    unsetenv(kind.variable)
    return value.isEmpty ? nil : Secret(kind, value)
  }

  /// Fails if a word is an option for a secret, with a message that says what to do instead.
  static func refuseAsArgument(_ name: String) throws(Failure) {
    let (what, kind, option): (String, Secret.Kind, Option?)
    switch name {
    case "--client-secret", "--secret":
      (what, kind, option) = ("a secret", .clientSecret, .clientSecretFile)
    case "--passphrase", "--password":
      (what, kind, option) = ("a passphrase", .passphrase, .passphraseFile)
    case "--key-passphrase":
      (what, kind, option) = ("a passphrase", .keyPassphrase, nil)
    case "--proxy-password":
      (what, kind, option) = ("a password", .proxyPassword, nil)
    case "--access-token":
      (what, kind, option) = ("a token", .accessToken, nil)
    default:
      return
    }
    throw .usage(
      "\(what) is never an argument, because every user of the machine can see arguments; put it "
        + "into the environment variable \(kind.variable)"
        + (option.map { ", or into a file that \($0.name) names" } ?? ""))
  }
}
