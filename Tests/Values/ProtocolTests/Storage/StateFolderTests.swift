import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

@Suite struct StateFolderTests {
  @Test(arguments: [
    (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/app"), (["HOME": "/h"], "/h/.local/state/app"),
    (["XDG_STATE_HOME": "", "HOME": "/h"], "/h/.local/state/app"),
    (["XDG_STATE_HOME": "relative", "HOME": "/h"], "/h/.local/state/app"),
    (["HOME": "/h", "STATE_DIRECTORY": "/var/lib/x"], "/h/.local/state/app"),
    (["XDG_STATE_HOME": "/s", "STATE_DIRECTORY": "/var/lib/x"], "/s/app"),
    (["STATE_DIRECTORY": "/var/lib/x:/var/lib/y"], "/var/lib/x/app"),
    // A combining character after a slash or a colon is a part of the next name.
    (["HOME": "/\u{301}h"], "/\u{301}h/.local/state/app"),
    (["STATE_DIRECTORY": "/x:\u{301}y"], "/x/app"),
  ])
  func `the folder follows the XDG specification, or else systemd's STATE_DIRECTORY`(
    environment: [String: String], path: String
  ) throws {
    #expect(try StateFolder.path(service: "app") { environment[$0] } == path)
  }

  @Test(arguments: [
    "", ".", "..", "a/b", "/a", "../a", "a\u{0}b", ".hidden", "a/\u{301}b", ".\u{301}",
  ])
  func `a service name that is empty, starts with a dot or contains a slash or NUL is rejected`(
    service: String
  ) {
    failure(.invalidConfiguration) {
      try StateFolder.path(service: service) { ["HOME": "/h"][$0] }
    }
    failure(.invalidConfiguration) { try FileTokenStore(service: service) }
  }

  @Test(arguments: [[:], ["HOME": ""], ["HOME": "relative"], ["STATE_DIRECTORY": "x"]])
  func `a missing or relative home folder is an error`(environment: [String: String]) {
    failure(.storeFailed) { try StateFolder.path(service: "app") { environment[$0] } }
  }

  @Test func `the error for a relative HOME differs from the error for a missing HOME`() {
    let relative = failure(.storeFailed) {
      try StateFolder.path(service: "app") { ["HOME": "relative"][$0] }
    }
    #expect(relative?.message.contains("the path in HOME is not absolute") == true)
    let none = failure(.storeFailed) { try StateFolder.path(service: "app") { _ in nil } }
    #expect(none?.message.contains("not absolute") == false)
  }

  @Test(arguments: ["XDG_STATE_HOME", "HOME", "STATE_DIRECTORY"])
  func `a folder variable that is not UTF-8 causes an error that names the variable`(
    name: String
  ) {
    let error = failure(.storeFailed) {
      try StateFolder.path(service: "app") { asked throws(EnvironmentVariable.NotText) in
        guard asked != name else { throw EnvironmentVariable.NotText(name: asked) }
        return nil
      }
    }
    #expect(error?.message.contains("the variable \(name) is not text in UTF-8") == true)
  }

  @Test func `two services have two files`() throws {
    let (first, second) = (try FileTokenStore(service: "one"), try FileTokenStore(service: "two"))
    #expect(first.path != second.path)
    #expect(first.path.hasSuffix("/one/tokens.json") && second.path.hasSuffix("/two/tokens.json"))
  }
}
