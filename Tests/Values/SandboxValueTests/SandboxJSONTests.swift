import OAuthSandbox
import Testing

struct SandboxJSONTests {
  @Test func `JSON is read, with an object's members in the order of their names`() {
    let json = SandboxJSON(parsing: #"{"b":[1,-2,1.5,"é\n",true,null,{}],"a":{"x":[]}}"#)
    #expect(json == ["a": ["x": []], "b": [1, -2, .literal("1.5"), "é\n", true, .null, [:]]])
    #expect(json?.text == #"{"a":{"x":[]},"b":[1,-2,1.5,"é\n",true,null,{}]}"#)
  }

  @Test(arguments: ["", "{", "[1", "{\"a\":}", "not JSON", "{\"a\":1"])
  func `malformed JSON is rejected`(text: String) {
    #expect(SandboxJSON(parsing: text) == nil)
  }

  @Test func `a member can be read, replaced in its place and removed`() {
    var json: SandboxJSON = ["a": 1, "b": 2]
    #expect(json["a"] == 1)
    #expect(json["c"] == nil)
    json["a"] = "x"
    json["c"] = 3
    json["b"] = nil
    #expect(json.text == #"{"a":"x","c":3}"#)
    var text: SandboxJSON = "text"
    text["a"] = 1
    #expect(text == "text" && text["a"] == nil)
  }
}
