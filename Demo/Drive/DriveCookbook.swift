import SQFoundation
import SequencingOAuth
import SequencingOAuthPipes

/// An app's work with an API that OAuth 2 protects, as a program to read from top to bottom.
///
/// The API is a drive like Google Drive v2. `sq-demo cookbook` runs the program at a sandbox. In
/// your app, use your own client, `provider: .google` and Google's address instead.
struct DriveCookbook: Sendable {
  /// The issuer of the authorization server where users sign in.
  let issuer: String
  let clientID: String
  /// The URL of the API, for example `https://www.googleapis.com`.
  let api: String
  /// The user agent that shows the server's pages, by default the system's browser.
  var browser: any UserAgent = SystemBrowser()
  /// A closure that gets the result of each step.
  let tell: @Sendable (_ step: String, _ result: String) throws -> Void

  /// A file's record in the API, with the members that this app needs.
  struct File: Codable, Sendable {
    let id: String
    var title: String
  }

  /// The API's answer to a request for its files.
  struct FileList: Decodable, Sendable {
    let items: [File]
  }

  func run() async throws {
    // Configure: say who the app is, where its users sign in, and what access it needs. Each pipe
    // represents one resource of the API. Nothing is sent yet.
    let client = try ClientConfiguration(
      clientID: clientID, redirectURI: "http://127.0.0.1/callback", scope: "files",
      provider: .issuer(issuer))
    var environment = ClientEnvironment()
    environment.userAgent = browser
    environment.landingPage = LandingPageStyle(appName: "sq-demo")
    let account = AuthorizationModule(configuration: client, environment: environment)

    let pipeline = try Pipeline(api, module: account)
    let files = try pipeline.add(
      "files",
      PipeConfiguration(
        endpoint: "drive/v2/files",
        paging: .tokens(next: "nextPageToken", parameter: "pageToken")))
    let uploads = try pipeline.add(
      "uploads", PipeConfiguration(endpoint: "upload/drive/v2/files"))
    try tell("configure", "a client of \(issuer)")

    // Authorize: the browser opens, and the user signs in and allows the access. A pipe does this
    // by itself when it needs a token and there is none, but an app may want to choose the time.
    let token = try await account.requestAccess()
    try tell("authorize", "access until revoked, for: \(token.scopes.joined(separator: " "))")

    // List: read page after page; each page is requested when the loop reaches it.
    var titles: [String] = []
    for try await page in files.pages(FileList.self, parameters: ["maxResults": "3"]) {
      titles += page.value.items.map(\.title)
    }
    try tell("list", "\(titles.count) files, from \"\(titles.first ?? "")\" on")

    // Upload: send a form with a file. For a file of any size on the disk, use `.file("file",
    // url)`.
    let form: MultipartForm = [
      .field("title", "Shopping list.txt"),
      .data("file", Data("bread, butter\n".utf8), contentType: "text/plain; charset=utf-8"),
    ]
    var file = try await uploads.upload(form, returning: File.self) { progress in
      _ = progress.fraction  // from 0 to 1, for a bar
    }
    try tell("upload", "\"\(file.title)\" is \(file.id)")

    // Rename: save a record with an `id`, which replaces the stored record. A record without an
    // `id` would be added as a new one.
    file.title = "Groceries.txt"
    file = try await files.save(file, returning: File.self)
    try tell("rename", "\(file.id) is \"\(file.title)\"")

    // Delete: remove the record with this `id`.
    try await files.remove(id: file.id)
    try tell("delete", "\(file.id) is gone")

    // Refresh: when the token has expired, the next request gets a new one first. Here the app
    // invalidates the token instead of waiting for an hour.
    account.invalidateAccessToken()
    titles = try await files.read(FileList.self).items.map(\.title)
    try tell("refresh", "a new token, and still \(titles.count) files")

    // Revoke: the server revokes the tokens. The app removes them and the data that it got with
    // them.
    try await account.revoke()
    titles = []
    try tell("revoke", "access is over, \(titles.count) files are shown")

    // Read again: the pipe asks the user for access again.
    titles = try await files.read(FileList.self).items.map(\.title)
    try tell("again", "the user was asked for access, \(titles.count) files")
  }
}
