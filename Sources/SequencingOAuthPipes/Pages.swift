public import SQBasics
public import SQFoundation
public import SequencingOAuth

extension Pipeline.Pipe {
  /// Returns the pages of the records; each page is read when the loop reaches it.
  ///
  /// An API can name next pages without end, so the loop ends with an error after `limit` pages.
  ///
  /// ```swift
  /// for try await page in files.pages(FileList.self) { show(page.value.items) }
  /// ```
  public func pages<Value: Decodable & Sendable>(
    _ type: Value.Type = JSONValue.self, parameters: [String: String] = [:],
    limit: Int = 10_000
  ) -> Pipeline.Pages<Value> {
    Pipeline.Pages(pipe: self, parameters: parameters, limit: limit)
  }
}

extension Pipeline {
  /// The pages of a ``Pipeline/Pipe``'s records, from the first to the last.
  ///
  /// Every iteration starts at the first page and reads all pages again.
  public struct Pages<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let pipe: Pipe
    let parameters: [String: String]
    let limit: Int

    /// Reads the first page.
    public func first() async throws(PipeError) -> Page<Value> {
      try await pipe.page(
        try pipe.request("GET", parameters: parameters).url, in: RequestSeries())
    }

    /// Creates an iterator that starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(pages: self)
    }

    /// An iterator that reads one page after another.
    ///
    /// The iteration ends with ``PipeError/unreadable(_:)`` if the API names a page twice, or if
    /// there are more pages than the limit of ``Pipeline/Pipe/pages(_:parameters:limit:)``.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let pages: Pages
      private var page: Page<Value>?
      private var visited: Set<URL> = []
      private var isOver = false

      fileprivate init(pages: Pages) {
        self.pages = pages
      }

      /// Reads the next page; returns `nil` after the last page and after an error.
      public mutating func next() async throws(PipeError) -> Page<Value>? {
        try await next(isolation: #isolation)
      }

      /// Reads the next page on the caller's actor; returns `nil` after the last page or an error.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(PipeError) -> Page<Value>? {
        guard !isOver else { return nil }
        // An error ends the iteration, so it counts as over until the page has been read.
        isOver = true
        guard let page else {
          self.page = try await pages.first()
          isOver = false
          return self.page
        }
        visited.insert(page.url)
        guard let url = page.nextURL else { return nil }
        guard !visited.contains(url) else {
          throw .unreadable(
            SQOAuthError(
              .invalidResponse, "the API names a next page that was already read; reading stops"))
        }
        guard visited.count < pages.limit else {
          throw .unreadable(
            SQOAuthError(
              .invalidResponse,
              "the API names more than \(pages.limit) pages; if it has that many, set the limit of "
                + "pages(_:parameters:limit:)"))
        }
        self.page = try await page.next()
        isOver = false
        return self.page
      }
    }
  }

  /// A page of a ``Pipeline/Pipe``'s records.
  public struct Page<Value: Decodable & Sendable>: Sendable {
    /// The page's content, decoded.
    public let value: Value
    /// The URL of this page.
    public let url: URL
    /// The absolute URL of the next page, without an access token; `nil` if the API names none.
    public let nextURL: URL?
    /// The absolute URL of the previous page, without an access token; `nil` if the API names none.
    public let previousURL: URL?
    let pipe: Pipe
    let series: RequestSeries

    /// Reads the next page; returns `nil` after the last page.
    ///
    /// - Throws: ``PipeError``. It is ``PipeError/failed(_:)`` with
    ///   `SQOAuthError.Code.originNotAllowed` if the API names a server that the app has not
    ///   allowed; see `ClientConfiguration.resourceOrigins`. It is ``PipeError/noAccess(_:)`` with
    ///   `SQOAuthError.Code.sessionReplaced` if another user has signed in since this page was read.
    public func next() async throws(PipeError) -> Page? {
      try await page(at: nextURL)
    }

    /// Reads the previous page; returns `nil` if this is the first page or the API names no
    /// previous page.
    ///
    /// - Throws: ``PipeError``, as ``next()`` does: also ``PipeError/noAccess(_:)`` with
    ///   `SQOAuthError.Code.sessionReplaced` if another user has signed in since this page was read.
    public func previous() async throws(PipeError) -> Page? {
      try await page(at: previousURL)
    }

    private func page(at url: URL?) async throws(PipeError) -> Page? {
      guard let url else { return nil }
      let origin: ResourceOrigin
      do throws(SQOAuthError) {
        origin = try ResourceOrigin(url)
      } catch {
        throw .failed(error)
      }
      // The API chose this URL, so the token must be allowed at the URL's server, not the pipe's.
      return try await pipe.page(url, from: origin, in: series)
    }
  }
}

extension Pipeline.Page: Redacted {
  /// The page's URL without its query, because the query may contain a secret.
  public var description: String { "page of \(url.withoutQuery)" }
}

extension Pipeline.Pages.AsyncIterator: Redacted {
  /// The name of the pipe, without the current page.
  public var description: String { pages.description }
}

extension Pipeline.Pages: Redacted {
  /// The pipe's name, without the parameters, because they may contain a secret.
  public var description: String { "pages of \(pipe.name)" }
}

extension Pipeline.Pipe {
  fileprivate func page<Value>(
    _ url: URL, from origin: ResourceOrigin? = nil, in series: RequestSeries
  ) async throws(PipeError) -> Pipeline.Page<Value> {
    let request = request("GET", url: url)
    let answer = try await read(request, to: origin, in: series)
    let (next, previous) = configuration.paging.neighbours(
      of: answer.response, answer.json, at: url)
    return Pipeline.Page(
      value: try answer.value(Value.self), url: url, nextURL: next, previousURL: previous,
      pipe: self, series: series)
  }
}
