// Opens a store in a separate process, for the tests:
// `store-probe [--user UID] STORE COMMAND ARGUMENT...`
import Foundation
import SequencingOAuth

var arguments = CommandLine.arguments.dropFirst()
do {
  if arguments.first == "--user", let user = arguments.dropFirst().first.flatMap({ uid_t($0) }) {
    arguments = arguments.dropFirst(2)
    // Root may open every file. A test that runs as root and needs a user without that right passes
    // `--user`, and this process becomes that user.
    guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else {
      throw Misuse(message: "this user cannot become another one")
    }
  }
  guard arguments.count >= 2 else {
    throw Misuse(message: "usage: store-probe [--user UID] STORE COMMAND ARGUMENT...")
  }
  let store = try await StoreAddress.open(arguments.removeFirst())
  try await Probe(store: store).run(arguments.removeFirst(), Array(arguments))
} catch let error as SQOAuthError {
  // The code comes first, so that tests can compare it.
  FileHandle.standardError.write(Data("error \(error.code): \(error.message)\n".utf8))
  exit(1)
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(2)
}
