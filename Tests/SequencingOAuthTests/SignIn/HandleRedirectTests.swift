import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// A redirect that the app receives goes to the sign-in that it answers.
@Suite(.timeLimit(.minutes(1))) struct HandleRedirectTests {
  @Test func `without a sign-in nothing is an answer`() throws {
    let bench = try Bench().register()
    let url = try #require(URL(string: "com.example.app:/cb?code=abc&state=x"))
    #expect(!bench.oauth.handleRedirect(url))
    #expect(!Bench().oauth.handleRedirect(url))
    #expect(bench.http.requests.isEmpty && bench.delegate.events.isEmpty)
  }

  @Test(arguments: [
    "com.example.other:/cb", "com.example.app:/other", "com.example.app:/cb/more",
    "com.example.app://cb", "https://com.example.app/cb", "com.example.app:/CB",
  ])
  func `another scheme, host or path is somebody else's and has no effect`(
    address: String
  ) async throws {
    let bench = try Bench(browser: Bench.idle).register()
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    let url = try #require(URL(string: "\(address)?code=abc&state=\(page.state)"))
    #expect(!bench.oauth.handleRedirect(url))
    #expect(bench.oauth.isAuthorizationPending && bench.http.requests.isEmpty)
    #expect(bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
  }

  @Test func `before the browser is open nothing is an answer`() async throws {
    let bench = try SessionBench()
    bench.store.loading.close()
    bench.oauth.authorizeUser()
    try await bench.store.loading.isHolding()
    #expect(bench.oauth.isAuthorizationPending)
    let url = try #require(URL(string: "com.example.app:/cb?code=abc&state=x"))
    #expect(!bench.oauth.handleRedirect(url))
    bench.store.loading.open()
    #expect(await bench.bench.delegate.events(1) == [.authorized("T1")])
  }

  @Test func `an answer counts once`() async throws {
    let bench = try Bench(browser: Bench.idle).register()
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<20 {
        group.addTask { bench.oauth.handleRedirect(try page.redirect("code=c\(index)")) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(taken.count { $0 } == 1)
    #expect(await bench.delegate.events(1) == [.authorized("T")])
    #expect(bench.http.requests.count == 1)
  }

  @Test func `of two providers the redirect completes its own`() async throws {
    let google = try Bench(browser: Bench.idle).register(provider: .google)
    let facebook = try Bench(browser: Bench.idle).register(provider: .facebook)
    google.oauth.authorizeUser()
    facebook.oauth.authorizeUser()
    let (_, page) = (try await google.isWaiting(), try await facebook.isWaiting())
    let answer = try page.redirect("code=abc")
    // An app hands every URL to every instance.
    #expect(!google.oauth.handleRedirect(answer))
    #expect(facebook.oauth.handleRedirect(answer))
    #expect(await facebook.delegate.events(1) == [.authorized("T")])
    #expect(google.delegate.events.isEmpty && google.http.requests.isEmpty)
    #expect(google.oauth.isAuthorizationPending)
    #expect(facebook.http.requests.map { $0.url.host() } == ["graph.facebook.com"])
  }

  /// An app with the scheme of the Sequencing pod.
  @Test func `the pod's own redirect URI works`() async throws {
    let bench = try Bench().register(redirectURI: "authapp://Default/Authcallback")
    #expect(try await bench.oauth.authorize().accessToken == "T")
    #expect(bench.http.forms.first?["redirect_uri"] == "authapp://Default/Authcallback")
  }

  @Test func `a registered query is kept on the way out and back`() async throws {
    let bench = try Bench(browser: { bench, page in
      #expect(page.parameters["redirect_uri"] == "com.example.app:/cb?tenant=7")
      let answer = "com.example.app:/cb?tenant=7&code=abc&state=\(page.state)"
      bench.oauth.handleRedirect(try #require(URL(string: answer)))
    }).register(redirectURI: "com.example.app:/cb?tenant=7")
    #expect(try await bench.oauth.authorize().accessToken == "T")
    #expect(bench.http.forms.first?["redirect_uri"] == "com.example.app:/cb?tenant=7")
  }
}
