import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The local file storage, asked as Cloud Storage's clients for servers ask it.
@Suite struct CloudStorageTests {
    private struct Site: Sendable {
        let time = LocalTime()
        let firebase: LocalFirebase
        let transport = CurlTransport()

        init() throws {
            var options = LocalFirebaseOptions()
            options.now = { [time] in time.now }
            firebase = try LocalFirebase(options)
        }

        func stop() async {
            await transport.shutDown()
            await firebase.stop()
        }

        func send(
            _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders = [:], _ body: String = ""
        ) async throws -> HTTPResponse {
            let address = path.hasPrefix("http") ? path : "http://\(firebase.host)\(path)"
            return try await transport.send(HTTPRequest(method, address, headers: headers, body: Array(body.utf8)))
        }

        func json(
            _ method: HTTPMethod, _ path: String, _ body: JSON? = nil
        ) async throws -> (status: Int, json: JSON) {
            let answer = try await send(
                method, path, body == nil ? [:] : ["Content-Type": "application/json"], body?.text() ?? "")
            return (answer.status, (try? JSON(parsing: answer.body)) ?? .null)
        }

        @discardableResult
        func put(_ name: String, _ text: String) async throws -> HTTPResponse {
            try await send(
                .post, "/upload/storage/v1/b/demo.appspot.com/o?uploadType=media&name=\(name)",
                ["Content-Type": "text/plain"], text)
        }

        func text(_ name: String) async throws -> String {
            let path = "/download/storage/v1/b/demo.appspot.com/o/\(PercentCoding.encode(name))?alt=media"
            return String(decoding: try await send(.get, path).body, as: UTF8.self)
        }
    }

    private static let root = "/storage/v1/b/demo.appspot.com/o"

    @Test func `What a server stores is what apps find, which get a token when they ask`() async throws {
        let site = try Site()
        let stored = try await site.put("public%2Fa", "hello")
        #expect(stored.status == 200)
        let (_, object) = try await site.json(.get, Self.root + "/public%2Fa")
        #expect(object["kind"] == "storage#object")
        #expect(object["size"] == "5")
        #expect(object["contentType"] == "text/plain")
        #expect(object["contentDisposition"] == nil && object["metadata"] == nil && object["downloadTokens"] == nil)
        let app = try await site.json(.get, "/v0/b/demo.appspot.com/o/public%2Fa")
        #expect(app.json["downloadTokens"]?.string?.isEmpty == false)
        let shown = try await site.json(.get, "/b/demo.appspot.com/o/public%2Fa").json
        #expect(shown["metadata"]?["firebaseStorageDownloadTokens"] == app.json["downloadTokens"])
        #expect(try await site.send(.delete, Self.root + "/public%2Fa").status == 204)
        #expect(try await site.json(.get, "/v0/b/demo.appspot.com/o/public%2Fa").status == 404)
        await site.stop()
    }

    @Test func `An upload comes described, and not with other contents than it says`() async throws {
        let site = try Site()
        func upload(_ description: String) async throws -> HTTPResponse {
            let body =
                "--x\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n\(description)\r\n"
                + "--x\r\nContent-Type: text/csv\r\n\r\na,b\r\n--x--"
            return try await site.send(
                .post, "/upload/storage/v1/b/demo.appspot.com/o?uploadType=multipart",
                ["Content-Type": "multipart/related; boundary=\"x\""], body)
        }
        let stored = try await upload(#"{"name":"t.csv","metadata":{"k":"v"}}"#)
        let json = try JSON(parsing: stored.body)
        #expect(json["contentType"] == "text/csv")
        #expect(json["metadata"] == ["k": "v"])
        #expect(try await upload(#"{"name":"u.csv","md5Hash":"AAAA"}"#).status == 400)
        #expect(try await site.json(.get, Self.root + "/u.csv").status == 404)
        #expect(try await upload("{}").status == 400, "without a name")
        await site.stop()
    }

    @Test func `An upload in parts goes on where it stopped`() async throws {
        let site = try Site()
        let begun = try await site.send(
            .post, "/upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable",
            ["Content-Type": "application/json", "X-Upload-Content-Type": "video/mp4"], #"{"name":"v"}"#)
        let session = try #require(begun.headers["Location"])
        let part = String(repeating: "a", count: 256 << 10)
        func put(_ range: String, _ body: String = "") async throws -> HTTPResponse {
            try await site.send(.put, session, ["Content-Range": range], body)
        }
        let first = try await put("bytes 0-262143/*", part)
        #expect(first.status == 308)
        #expect(first.headers["Range"] == "bytes=0-262143")
        #expect(try await put("bytes 0-262143/*", part).status == 400, "has come already")
        #expect(try await put("bytes 262144-262146/*", "bcd").status == 400, "not the last, and too short")
        #expect(try await put("bytes */*").headers["Range"] == "bytes=0-262143")
        let last = try await put("bytes 262144-262146/262147", "bcd")
        #expect(last.status == 200)
        #expect(try JSON(parsing: last.body)["size"] == "262147")
        #expect(try JSON(parsing: last.body)["contentType"] == "video/mp4")
        #expect(try await put("bytes */262147").status == 200, "the answer may have been lost")
        #expect(try await site.text("v") == part + "bcd")

        let other = try await site.send(
            .post, "/upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&name=w")
        let cancelled = try #require(other.headers["Location"])
        #expect(try await site.send(.delete, cancelled).status == 499)
        #expect(try await site.send(.put, cancelled, [:], "x").status == 410)
        await site.stop()
    }

    @Test func `Conditions on generations hold for every call`() async throws {
        let site = try Site()
        let stored = try JSON(parsing: try await site.put("a", "one").body)
        let generation = stored["generation"]?.string ?? ""
        let path = Self.root + "/a"
        #expect(try await site.put("a&ifGenerationMatch=0", "two").status == 412)
        #expect(try await site.json(.get, path + "?ifGenerationMatch=\(generation)").status == 200)
        #expect(try await site.send(.get, path + "?ifGenerationNotMatch=\(generation)").status == 304)
        #expect(try await site.json(.patch, path + "?ifMetagenerationMatch=2", [:]).status == 412)
        let patched = try await site.json(
            .patch, path + "?ifMetagenerationMatch=1", ["metadata": ["a": "1", "b": "2"], "cacheControl": "no-store"])
        #expect(patched.json["metageneration"] == "2")
        let again = try await site.json(.patch, path, ["metadata": ["a": .null]])
        #expect(again.json["metadata"] == ["b": "2"])
        let replaced = try await site.json(.put, path, ["metadata": ["c": "3"]])
        #expect(replaced.json["metadata"] == ["c": "3"] && replaced.json["cacheControl"] == nil)
        #expect(try await site.json(.get, path + "?generation=1").status == 404)
        #expect(try await site.send(.delete, path + "?ifGenerationMatch=1").status == 412)
        #expect(try await site.text("a") == "one")
        await site.stop()
    }

    @Test func `Objects are copied, composed and listed in pages and folders`() async throws {
        let site = try Site()
        for name in ["a", "dir%2Fb", "dir%2Fc"] { try await site.put(name, name) }
        let copied = try await site.json(.post, Self.root + "/a/rewriteTo/b/demo.appspot.com/o/dir%2Fd")
        #expect(copied.json["done"] == true)
        #expect(copied.json["resource"]?["contentType"] == "text/plain")
        let composed = try await site.json(
            .post, Self.root + "/e/compose",
            ["sourceObjects": [["name": "a"], ["name": "dir/d"]], "destination": ["contentType": "text/x"]])
        #expect(composed.json["componentCount"] == 2)
        #expect(try await site.text("e") == "aa")
        let missing = try await site.json(.post, Self.root + "/f/compose", ["sourceObjects": [["name": "no"]]])
        #expect(missing.status == 404)

        func names(_ query: String) async throws -> (items: [String], prefixes: [String], token: String?) {
            let page = try await site.json(.get, Self.root + query).json
            return (
                (page["items"]?.array ?? []).compactMap { $0["name"]?.string },
                (page["prefixes"]?.array ?? []).compactMap(\.string), page["nextPageToken"]?.string
            )
        }
        let folders = try await names("?delimiter=%2F")
        #expect(folders.items == ["a", "e"] && folders.prefixes == ["dir/"])
        let first = try await names("?maxResults=2")
        #expect(first.items == ["a", "dir/b"])
        let second = try await names("?maxResults=9&pageToken=\(first.token ?? "")")
        #expect(second.items == ["dir/c", "dir/d", "e"] && second.token == nil)
        #expect(try await names("?startOffset=dir%2Fc&endOffset=e").items == ["dir/c", "dir/d"])
        #expect(try await site.json(.get, "/storage/v1/b").json["items"]?[0]?["name"] == "demo.appspot.com")
        #expect(try await site.send(.delete, "/storage/v1/b/demo.appspot.com").status == 409)
        await site.stop()
    }

    @Test func `A signed URL works until it expires`() async throws {
        let site = try Site()
        let moment = RFC3339.format(.init(seconds: site.time.now.seconds, nanoseconds: 0))
        let date = moment.filter { $0 != "-" && $0 != ":" }.prefix { $0 != "." }
        let signed = "/demo.appspot.com/dir/a?X-Goog-Date=\(date)&X-Goog-Expires=60&X-Goog-Signature=00"
        #expect(try await site.send(.put, signed, ["Content-Type": "text/plain"], "hello").status == 200)
        #expect(String(decoding: try await site.send(.get, signed).body, as: UTF8.self) == "hello")
        site.time.advance(by: 61)
        #expect(try await site.send(.get, signed).status == 400)
        #expect(try await site.send(.put, signed, [:], "late").status == 400)
        #expect(try await site.send(.put, "/demo.appspot.com/dir/a", [:], "unsigned").status == 404)
        #expect(try await site.text("dir/a") == "hello")
        await site.stop()
    }

    @Test func `What it does not serve says so`() async throws {
        let site = try Site()
        try await site.put("a", "one")
        let answer = try await site.json(.get, Self.root + "/a/acl")
        #expect(answer.status == 501)
        #expect(answer.json["error"]?["message"]?.string?.includes("access lists") == true)
        await site.stop()
    }
}
