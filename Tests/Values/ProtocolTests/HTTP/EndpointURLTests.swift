import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Which URLs are endpoints: https, or http on a host that is spelt as a loopback address.
@Suite struct EndpointURLTests {
  @Test(arguments: [
    "https://server.example.com/token", "https://server.example.com", "HTTPS://server.example/t",
    "https://server.example:8443/t?tenant=7", "https://[2001:db8::1]/t", "https://10.0.0.1/t",
    "https://xn--bcher-kva.example/t", "https://s.example/a%20b", "https://s.example/~a/;b/@c",
    "http://127.0.0.1:8080/t", "http://127.0.0.1/t", "http://127.255.255.254/t",
    "http://127.1.2.3:9/t", "http://[::1]:8080/t", "http://[::1]/t", "http://localhost:8080/t",
    "http://LOCALHOST/t", "HTTP://127.0.0.1/t",
  ])
  func `https anywhere and http on a loopback address are accepted`(text: String) throws {
    #expect(try EndpointURL.check(text, name: "token endpoint").absoluteString == text)
  }

  @Test(arguments: [
    // http elsewhere, and names that only look like loopback
    "http://server.example.com/t", "http://10.0.0.1/t", "http://0.0.0.0/t", "http://128.0.0.1/t",
    "http://localhost.evil.com/t", "http://evil.com.localhost/t", "http://localhost./t",
    "http://127.0.0.1.evil.com/t", "http://127.evil.com/t", "http://127.0.0.1./t",
    "http://ip6-localhost/t", "http://localtest.me/t", "http://local/t", "http://loopback/t",
    // spellings of 127.0.0.1 that parsers read differently
    "http://127.1/t", "http://127.0.1/t", "http://0x7f000001/t", "http://0x7f.0.0.1/t",
    "http://2130706433/t", "http://017700000001/t", "http://0177.0.0.1/t", "http://127.0.0.01/t",
    "http://127.0.0.256/t", "http://127.0.0.1.1/t", "http://127.0.0/t", "http://127.0.0./t",
    "http://127..0.1/t", "http://127.0.0.-1/t", "http://127.0.0.+1/t", "http://127.0.0.0x1/t",
    "http://127%2E0.0.1/t", "http://%6cocalhost/t", "http://127.0.0.1%00.evil.com/t",
    "http://\u{FF11}27.0.0.1/t", "http://\u{2488}/t", "http://loc\u{E4}lhost/t",
    // other IPv6 addresses
    "http://[::2]/t", "http://[::]/t", "http://[::ffff:127.0.0.1]/t", "http://[::1%25lo]/t",
    "http://[0:0:0:0:0:0:0:1]/t", "http://[fe80::1]/t", "http://::1/t", "http://[::1]evil.com/t",
    "http://[::1].evil.com/t",
  ])
  func `http on a host that is not spelt as a loopback address is rejected`(text: String) {
    let error = failure { try EndpointURL.check(text, name: "token endpoint") }
    #expect(error?.code == .insecureEndpoint || error?.code == .invalidConfiguration)
  }

  @Test(arguments: [
    "http://server.example.com/t", "http://localhost.evil.com/t", "http://10.0.0.1/t",
  ])
  func `an endpoint without encryption is reported as insecure`(text: String) {
    failure(.insecureEndpoint) { try EndpointURL.check(text, name: "token endpoint") }
  }

  @Test(arguments: [
    // user information
    "https://user@server.example/t", "https://user:pw@server.example/t",
    "https://@server.example/t",
    "https://:@server.example/t", "http://127.0.0.1@evil.com/t", "http://localhost@evil.com/t",
    "http://127.0.0.1:80@evil.com/t", "https://server.example%40evil.com@x/t",
    // fragments
    "https://server.example/t#", "https://server.example/t#x", "http://127.0.0.1#@evil.com/",
    "https://server.example#x",
    // characters that one parser repairs and another does not
    "https://server.example\\@evil.com/t", "http://127.0.0.1\\@evil.com/t",
    "https:\\\\server.example\\t", "https://server.example/a\\b", " https://server.example/t",
    "https://server.example/t ", "https://server.example/a b", "https://server.example/\tt",
    "https://server.example/t\n", "https://server.example/t\r\nX: y",
    "https://server.example/\u{0}",
    "https://server.example/\u{7F}", "https://server.example/\u{FC}",
    "https://b\u{FC}cher.example/",
    "https://server.example/<x>", "https://server.example/\"", "https://server.example/{x}",
    "https://server.example/`", "https://server.example/|", "https://server.example/^",
    // not an absolute URL, or without a host
    "", "server.example/t", "//server.example/t", "/t", "https:", "https:/", "https://",
    "https:///t",
    "https:server.example/t", "https:/server.example/t", "https://:443/t", "https://?x", "t", "?x",
    "javascript:alert(1)", "data:text/plain,x", "about:blank", "ftp://server.example/t",
    "ws://server.example/t",
    // invalid ports
    "https://server.example:99999/t", "https://server.example:-1/t", "https://server.example:x/t",
    "https://server.example:443:443/t",
    // invalid hosts
    "https://[::1/t", "https://::1]/t", "https://[server.example]/t", "http://[127.0.0.1]/t",
  ])
  func `a malformed or ambiguous URL, or a URL with a user or fragment, is rejected`(text: String) {
    let error = failure { try EndpointURL.check(text, name: "token endpoint") }
    #expect(error?.message.contains("token endpoint") == true)
  }

  @Test func `the error does not repeat the user information`() {
    let error = failure { try EndpointURL.check("https://user:C4N4RY@s.example/t", name: "issuer") }
    #expect(error.map { !everyText(of: $0).contains("C4N4RY") } == true)
  }
}
