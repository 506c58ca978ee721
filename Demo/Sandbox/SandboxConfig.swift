import OAuthSandbox
import SQBasics
import SQFoundation
import SequencingOAuth

extension Option {
  static let config = Option(
    "--config", value: "FILE",
    help: "Read the sandbox's clients, users, scopes, lifetimes and resources from a JSON file. "
      + "Other options count more than the file.")
  static let configExample = Option(
    "--config-example", help: "Print such a file with every member, and end.")
}

/// The settings of a sandbox from a JSON file.
///
/// The file's secrets and passwords are for tests and the sandbox prints them, so the file may be
/// readable for everyone, as it is in a repository.
struct SandboxConfig: Sendable {
  private static let maximumBytes = 1 << 20
  private static let names = [
    "port", "clients", "users", "scopes", "lifetimes", "resources", "access_token_format",
  ]
  private static let lifetimeNames = [
    "access_token", "refresh_token", "authorization", "code", "device_code", "device_interval",
  ]
  private static let formats = ["opaque", "jwt"]

  /// The options of the sandbox: the defaults with the values of the file.
  let options: SandboxOptions

  /// Reads a configuration file of at most 1 MiB.
  init(path: String) throws(Failure) {
    let bytes = try Failure.reading("the configuration \(path)") {
      () throws(FileReading.ReadError) in
      try FileReading.content(of: path, atMost: Self.maximumBytes)
    }
    do throws(Failure) {
      try self.init(text: Data(bytes))
    } catch {
      throw .usage("the configuration \(path.onScreen): \(error.message)")
        .withHint("'sq-demo sandbox --config-example' prints a file with every member.")
    }
  }

  /// Reads the JSON text of a configuration file.
  init(text: Data) throws(Failure) {
    let value: JSONValue
    do throws(JSONFailure) {
      value = try JSONReader.value(of: text, .settings)
    } catch {
      throw Self.malformed(error, text)
    }
    let file = try ConfigObject(value, at: "", Self.names)
    var options = SandboxOptions()
    if let port = try file.number("port", in: 0...65_535) { options.port = UInt16(port) }
    try Self.read(lifetimes: file, into: &options)
    if let scopes = try Self.scopes(file) {
      options.scopes.removeAll { own in scopes.contains { $0.name == own.name } }
      options.scopes += scopes
    }
    if let resources = try Self.resources(file) { options.audiences = resources }
    if try file.choice("access_token_format", among: Self.formats) == "jwt" {
      options.accessTokenFormat = .jwt(.rs256)
    }
    if let clients = try SandboxClient.list(in: file, scopes: options.scopes.map(\.name)) {
      options.clients = clients
    }
    if let users = try SandboxUser.list(in: file) { options.users = users }
    self.options = options
  }

  /// Returns the failure for a text that is not JSON, with the line of the mistake.
  private static func malformed(_ error: JSONFailure, _ text: Data) -> Failure {
    switch error {
    case .doubleName(let name): return .usage("an object has two members named \(name.onScreen)")
    case .malformed(let place): return malformed(text, before: text.prefix(place))
    default: return .usage(error.description(of: "text"))
    }
  }

  private static func malformed(_ text: Data, before: Data) -> Failure {
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
    let isText = String(validating: text, as: UTF8.self) != nil
    return .usage(
      "line \(line) is not JSON at byte \(column) of the line"
        + (isText ? "" : ", because the file is not written in UTF-8"))
  }

  /// Returns the identifiers of the resources; `nil` if the file names none.
  private static func resources(_ file: ConfigObject) throws(Failure) -> Set<String>? {
    guard let resources = try file.texts("resources") else { return nil }
    for (index, resource) in resources.enumerated() {
      // RFC 8707, section 2, requires an absolute URI without a fragment.
      guard URL(string: resource)?.scheme != nil, !resource.contains("#") else {
        throw file.wrong(
          "resources[\(index)]",
          "must be an absolute URI without a fragment, such as https://api.example")
      }
    }
    return Set(resources)
  }

  private static func read(
    lifetimes file: ConfigObject, into options: inout SandboxOptions
  ) throws(Failure) {
    guard let value = file.members["lifetimes"] else { return }
    let lifetimes = try ConfigObject(value, at: "lifetimes", lifetimeNames)
    func seconds(_ name: String) throws(Failure) -> Duration? {
      try lifetimes.number(name, in: 1...31_536_000).map { .seconds($0) }
    }
    if let time = try seconds("access_token") { options.accessTokenLifetime = time }
    if let time = try seconds("refresh_token") { options.refreshTokenTimeout = time }
    if let time = try seconds("authorization") { options.authorizationLifetime = time }
    if let time = try seconds("code") { options.codeLifetime = time }
    if let time = try seconds("device_code") { options.deviceCodeLifetime = time }
    if let time = try seconds("device_interval") { options.deviceInterval = time }
  }

  private static func scopes(_ file: ConfigObject) throws(Failure) -> [SandboxScope]? {
    var scopes: [SandboxScope] = []
    guard let objects = try file.objects("scopes", ["scope", "summary"]) else { return nil }
    for object in objects {
      let name = try object.required("scope")
      guard !name.contains(/[^\x21\x23-\x5B\x5D-\x7E]/) else {
        throw object.wrong(
          "scope", "has a space or another character that the name of a scope cannot have")
      }
      guard !scopes.contains(where: { $0.name == name }) else {
        throw object.wrong("scope", "is the name of an earlier scope")
      }
      scopes.append(SandboxScope(name, try object.text("summary") ?? name))
    }
    return scopes
  }
}
