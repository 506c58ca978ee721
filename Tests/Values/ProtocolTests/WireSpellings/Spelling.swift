/// The ways in which a server may write a message differently from what its specification says.
///
/// They are the columns of the table, and the raw values their names in the article.
enum Spelling: String, Sendable, CaseIterable {
  case null = "`null`"
  case empty = "empty"
  case kind = "another type"
  case list = "list or single"
  case encoding = "encoding"
  case contentType = "content type"
  case more = "more members"
  case letterCase = "letter case"
  case unneeded = "broken, not needed"
  case number = "extreme number"
  case blanks = "white space"
  case missing = "missing"
}
