public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Pipeline.Pipe {
  /// The pages of the records, each read when it is asked for.
  ///
  /// ```swift
  /// for try await page in files.pages(FileList.self) { show(page.value.items) }
  /// ```
  public func pages<Value: Decodable & Sendable>(
    _ type: Value.Type = JSONValue.self, parameters: [String: String] = [:]
  ) -> Pipeline.Pages<Value> {
    Pipeline.Pages(pipe: self, parameters: parameters)
  }
}

extension Pipeline {
  /// The pages of a ``Pipeline/Pipe``'s records, from the first to the last; every iteration asks anew.
  public struct Pages<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let pipe: Pipe
    let parameters: [String: String]

    /// The first page.
    public func first() async throws(PipeError) -> Page<Value> {
      try await pipe.page(try pipe.request("GET", parameters: parameters).url)
    }

    /// Begins at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(pages: self)
    }

    /// Reads page after page.
    ///
    /// A page that leads back to one that was read ends in ``PipeError/unreadable(_:)``.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let pages: Pages
      private var page: Page<Value>?
      private var visited: Set<URL> = []
      private var isOver = false

      fileprivate init(pages: Pages) {
        self.pages = pages
      }

      /// The next page, or `nil` behind the last one.
      public mutating func next() async throws(PipeError) -> Page<Value>? {
        try await next(isolation: #isolation)
      }

      /// The next page, or `nil` behind the last one.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(PipeError) -> Page<Value>? {
        guard !isOver else { return nil }
        // Whatever goes wrong, nothing comes behind it.
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
            SQOAuthError(.invalidResponse, "the API's pages lead back to one that was read before"))
        }
        self.page = try await page.next()
        isOver = false
        return self.page
      }
    }
  }

  /// A page of a ``Pipeline/Pipe``'s records.
  public struct Page<Value: Decodable & Sendable>: Sendable {
    /// What the page holds.
    public let value: Value
    /// The URL that the page was read from.
    public let url: URL
    /// The URL of the next page, as the API wrote it, but for an access token in it.
    public let nextURL: URL?
    /// The URL of the page before, as the API wrote it, but for an access token in it.
    public let previousURL: URL?
    let pipe: Pipe

    /// Reads the next page; `nil` behind the last one.
    ///
    /// - Throws: ``PipeError/failed(_:)`` with ``SQOAuthError/Code/originNotAllowed`` where the API
    ///   names another server, which the app did not name; ``ClientConfiguration/resourceOrigins``
    ///   explains how it does.
    public func next() async throws(PipeError) -> Page? {
      try await page(at: nextURL)
    }

    /// Reads the page before; `nil` before the first one, and where the API names none.
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
      // The API chose this URL, so its server is checked, and not the pipe's.
      return try await pipe.page(url, from: origin)
    }
  }
}

extension Pipeline.Page: Redacted {
  /// The page's address without its query, which may hold a secret.
  public var description: String { "page of \(url.withoutQuery)" }
}

extension Pipeline.Pages.AsyncIterator: Redacted {
  /// The name of the pipe, without the place in its pages.
  public var description: String { pages.description }
}

extension Pipeline.Pages: Redacted {
  /// The name of the pipe, without the parameters, which may hold a secret.
  public var description: String { "pages of \(pipe.name)" }
}

extension Pipeline.Pipe {
  fileprivate func page<Value>(
    _ url: URL, from origin: ResourceOrigin? = nil
  ) async throws(PipeError) -> Pipeline.Page<Value> {
    let request = request("GET", url: url)
    let response = try await perform(request, to: origin)
    let value = try decode(Value.self, response)
    let (next, previous) = configuration.paging.neighbours(of: response, at: url)
    return Pipeline.Page(value: value, url: url, nextURL: next, previousURL: previous, pipe: self)
  }
}
