import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The local file storage, asked as the clients of the vendor ask it.
@Suite struct LocalStorageTests {
    /// A local Firebase and plain requests to its bucket.
    struct Site: Sendable {
        let firebase: LocalFirebase
        let transport = CurlTransport()

        init(folder: URL? = nil, isOpen: Bool = false) throws {
            var options = LocalFirebaseOptions()
            options.folder = folder
            options.allowsEverything = isOpen
            firebase = try LocalFirebase(options)
        }

        func stop() async {
            await transport.shutDown()
            await firebase.stop()
        }

        var root: String { "http://\(firebase.host)/v0/b/demo/o" }

        /// - Parameter user: Who asks; no one when `nil`, the developer as "owner".
        func send(
            _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders = [:], body: String = "",
            as user: String? = "alice"
        ) async throws -> HTTPResponse {
            var request = HTTPRequest(
                method, path.hasPrefix("http") ? path : root + path, headers: headers, body: Array(body.utf8))
            if let user {
                request.headers["Authorization"] =
                    user == "owner" ? "Bearer owner" : "Firebase \(firebase.idToken(for: user))"
            }
            return try await transport.send(request)
        }

        /// Stores a file with a bare body.
        @discardableResult
        func put(_ name: String, _ text: String, as user: String? = "alice") async throws -> HTTPResponse {
            try await send(
                .post, "?name=\(PercentCoding.encode(name))", ["Content-Type": "text/plain"], body: text, as: user)
        }

        func begin(_ name: String, length: Int? = nil) async throws -> String {
            var headers: HTTPHeaders = [
                "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Type": "video/mp4",
            ]
            if let length { headers["X-Goog-Upload-Header-Content-Length"] = "\(length)" }
            let answer = try await send(.post, "?name=\(name)", headers)
            #expect(answer.headers["X-Goog-Upload-Status"] == "active")
            #expect(answer.headers["X-Goog-Upload-Chunk-Granularity"] == "262144")
            return try #require(answer.headers["X-Goog-Upload-URL"])
        }

        func command(
            _ command: String, _ session: String, offset: Int? = nil, body: String = ""
        ) async throws -> HTTPResponse {
            var headers: HTTPHeaders = ["X-Goog-Upload-Command": command]
            if let offset { headers["X-Goog-Upload-Offset"] = "\(offset)" }
            return try await send(.post, session, headers, body: body)
        }
    }

    private func json(_ response: HTTPResponse) -> JSON { (try? JSON(parsing: response.body)) ?? .null }
    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test func `It says what it is, and answers failures word for word`() async throws {
        let site = try Site()
        let health = try await site.send(.get, "http://\(site.firebase.host)/v0/")
        #expect(json(health)["emulator"]?.string == "storage")
        let missing = try await site.send(.get, "/nothing")
        #expect(missing.status == 404)
        #expect(text(missing) == "Not Found")
        let forbidden = try await site.send(.get, "/users%2Fbob%2Fdeep%2Fa", as: "alice")
        #expect(forbidden.status == 403)
        #expect(json(forbidden)["error"]?["message"]?.string == "Permission denied. No READ permission.")
        let write = try await site.put("users/bob/a", "x")
        #expect(json(write)["error"]?["message"]?.string == "Permission denied. No WRITE permission.")
        let list = try await site.send(.get, "?prefix=users%2Fbob%2Fdeep%2F&delimiter=%2F")
        #expect(json(list)["error"]?["message"]?.string == "Permission denied. No LIST permission.")
        let prefix = try await site.send(.get, "?prefix=a")
        #expect(prefix.status == 400)
        let forged = try await site.send(.get, "/a", ["Authorization": "Firebase e30.e30.x"], as: nil)
        #expect(forged.status == 401)
        await site.stop()
    }

    @Test func `An object has a resource with its sums, and new keys with every replacement`() async throws {
        let site = try Site()
        let first = json(try await site.put("a b/ü.txt", "hello"))
        #expect(first["name"]?.string == "a b/ü.txt")
        #expect(first["size"]?.string == "5")
        #expect(first["md5Hash"]?.string == "XUFAKrxLKna5cZ2REBfFkg==")
        #expect(first["crc32c"]?.string == "mnG7TA==")
        #expect(first["contentType"]?.string == "text/plain")
        #expect(first["metageneration"]?.string == "1")
        let second = json(try await site.put("a b/ü.txt", "again"))
        #expect(second["generation"]?.string != first["generation"]?.string)
        #expect(second["downloadTokens"]?.string != first["downloadTokens"]?.string)
        let path = "/a%20b%2F%C3%BC.txt?alt=media"
        let old = try await site.send(.get, path + "&token=\(first["downloadTokens"]?.string ?? "")", as: nil)
        #expect(old.status == 403)
        let new = try await site.send(.get, path + "&token=\(second["downloadTokens"]?.string ?? "")", as: nil)
        #expect(text(new) == "again")
        #expect(new.headers["x-goog-generation"] == second["generation"]?.string)
        await site.stop()
    }

    @Test(arguments: [
        ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=7-", 206, "789", "bytes 7-9/10"),
        ("bytes=-2", 206, "89", "bytes 8-9/10"), ("bytes=5-100", 206, "56789", "bytes 5-9/10"),
        ("bytes=10-", 416, "", "bytes */10"), ("bytes=4-2", 416, "", "bytes */10"),
        ("bytes=0-9223372036854775807", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=8-9223372036854775808", 206, "89", "bytes 8-9/10"),
        ("bytes=-9223372036854775807", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=9223372036854775807-", 416, "", "bytes */10"),
    ])
    func `Ranges are cut as HTTP says`(_ range: String, _ status: Int, _ body: String, _ place: String) async throws {
        let site = try Site()
        try await site.put("a", "0123456789")
        let answer = try await site.send(.get, "/a?alt=media", ["Range": range])
        #expect(answer.status == status)
        #expect(text(answer) == body)
        #expect(answer.headers["Content-Range"] == place)
        let stale = try await site.send(.get, "/a?alt=media", ["Range": range, "If-Range": "other"])
        #expect(stale.status == 200)
        await site.stop()
    }

    @Test func `Changes are merged, and null removes`() async throws {
        let site = try Site()
        try await site.put("a", "x")
        let type: HTTPHeaders = ["Content-Type": "application/json"]
        _ = try await site.send(
            .patch, "/a", type, body: #"{"cacheControl":"max-age=1","metadata":{"k":"v","draft":"1"}}"#)
        let changed = json(
            try await site.send(
                .patch, "/a", type,
                body: #"{"contentType":"text/x","cacheControl":null,"metadata":{"draft":null,"n":"2"}}"#))
        #expect(changed["contentType"]?.string == "text/x")
        #expect(changed["cacheControl"] == nil)
        #expect(changed["metadata"] == ["k": "v", "n": "2"])
        #expect(changed["metageneration"]?.string == "3")
        let bare = json(try await site.send(.patch, "/a", type, body: #"{"metadata":null}"#))
        #expect(bare["metadata"] == nil)
        await site.stop()
    }

    @Test func `Keys of addresses are made and ended without touching the contents`() async throws {
        let site = try Site(isOpen: true)
        let made = json(try await site.put("a.txt", "contents"))
        let old = try #require(made["downloadTokens"]?.string)
        let refused = try await site.send(.post, "/a.txt?create_token=true", as: "alice")
        #expect(refused.status == 401 || refused.status == 403)
        let more = json(try await site.send(.post, "/a.txt?create_token=true", as: "owner"))
        let keys = try #require(more["downloadTokens"]?.string).split(separator: ",").map(String.init)
        #expect(keys.count == 2 && keys.contains(old))
        #expect(text(try await site.send(.get, "/a.txt?alt=media")) == "contents")
        let fewer = json(try await site.send(.post, "/a.txt?delete_token=\(old)", as: "owner"))
        #expect(fewer["downloadTokens"]?.string == keys.first { $0 != old })
        #expect(text(try await site.send(.get, "/a.txt?alt=media")) == "contents")
        #expect(try await site.send(.post, "/missing?create_token=true", as: "owner").status == 404)
        await site.stop()
    }

    @Test func `Contents that are compressed say so, and metadata is text`() async throws {
        let site = try Site(isOpen: true)
        let packed = Array("not really packed".utf8)
        let description = #"{"name":"a.gz","contentType":"text/plain","contentEncoding":"gzip","metadata":{"n":7}}"#
        let body =
            "--b\r\nContent-Type: application/json\r\n\r\n\(description)\r\n--b\r\n"
            + "Content-Type: text/plain\r\n\r\n\(String(decoding: packed, as: UTF8.self))\r\n--b--"
        let stored = try await site.send(
            .post, "?name=a.gz",
            ["X-Goog-Upload-Protocol": "multipart", "Content-Type": "multipart/related; boundary=b"], body: body)
        #expect(json(stored)["contentEncoding"] == "gzip")
        #expect(json(stored)["metadata"]?["n"] == "7")
        let answer = try await site.send(.head, "/a.gz?alt=media")
        #expect(answer.headers["Content-Encoding"] == "gzip")
        await site.stop()
    }

    @Test func `Browsers of other origins may read what uploads in parts need`() async throws {
        let site = try Site(isOpen: true)
        let answer = try await site.send(
            .post, "?name=a",
            [
                "Origin": "http://localhost:5173", "X-Goog-Upload-Protocol": "resumable",
                "X-Goog-Upload-Command": "start",
            ])
        #expect(answer.headers["Access-Control-Allow-Origin"] != nil)
        let exposed = (answer.headers["Access-Control-Expose-Headers"] ?? "").lowercased()
        for name in ["status", "url", "chunk-granularity", "size-received"] {
            #expect(exposed.contains("x-goog-upload-\(name)"), "\(name)")
        }
        await site.stop()
    }

    @Test func `Lists have pages of files and folders together, in order`() async throws {
        let site = try Site()
        for name in ["a/1", "a/b/2", "a/b/3", "a/c", "a/d/4", "z"] { try await site.put(name, name) }
        var names: [String] = []
        var token: String? = ""
        while let next = token {
            let page = json(
                try await site.send(
                    .get, "?prefix=a%2F&delimiter=%2F&maxResults=2" + (next.isEmpty ? "" : "&pageToken=\(next)")))
            names += (page["items"]?.array ?? []).compactMap { $0["name"]?.string }
            names += (page["prefixes"]?.array ?? []).compactMap(\.string)
            token = page["nextPageToken"]?.string
        }
        #expect(names.sorted() == ["a/1", "a/b/", "a/c", "a/d/"])
        let deep = json(try await site.send(.get, "?prefix=a%2F"))
        #expect(deep["items"]?.array?.count == 5)
        #expect(try await site.send(.get, "?prefix=").status == 403)
        await site.stop()
    }

    @Test func `Parts are taken at their places only, and the last closes the object`() async throws {
        let site = try Site()
        let part = String(repeating: "p", count: 262_144)
        let session = try await site.begin("film", length: 262_147)
        #expect(try await site.command("upload", session, offset: 1, body: part).status == 400)
        #expect(try await site.command("upload", session, offset: 0, body: "odd").status == 400)
        #expect(
            try await site.command("upload", session, offset: 0, body: part).headers["X-Goog-Upload-Status"] == "active"
        )
        let asked = try await site.command("query", session)
        #expect(asked.headers["X-Goog-Upload-Size-Received"] == "262144")
        #expect(try await site.command("finalize", session, offset: 262_144).status == 400)
        let last = try await site.command("upload, finalize", session, offset: 262_144, body: "end")
        #expect(last.headers["X-Goog-Upload-Status"] == "final")
        #expect(json(last)["size"]?.string == "262147")
        #expect(json(last)["contentType"]?.string == "video/mp4")
        #expect(try await site.command("query", session).headers["X-Goog-Upload-Status"] == "final")
        #expect(try await site.command("upload", session, offset: 262_147, body: "more").status == 400)
        await site.stop()
    }

    @Test func `A cancelled upload is over, a forgotten one unknown`() async throws {
        let site = try Site()
        let session = try await site.begin("film")
        #expect(try await site.command("cancel", session).headers["X-Goog-Upload-Status"] == "cancelled")
        #expect(try await site.command("query", session).headers["X-Goog-Upload-Status"] == "cancelled")
        #expect(try await site.command("upload, finalize", session, offset: 0).status == 400)
        let other = try await site.begin("film")
        site.firebase.files.forgetUploads()
        #expect(try await site.command("query", other).status == 404)
        #expect(try await site.send(.get, "/film").status == 404)
        await site.stop()
    }

    @Test func `Two parts are taken apart as strictly as the vendor does`() async throws {
        let site = try Site()
        func send(_ body: String, boundary: String = "b") async throws -> HTTPResponse {
            try await site.send(
                .post, "?name=a",
                ["X-Goog-Upload-Protocol": "multipart", "Content-Type": "multipart/related; boundary=\(boundary)"],
                body: body)
        }
        let json = "Content-Type: application/json; charset=utf-8\r\n\r\n{\"contentType\":\"text/x\"}"
        let good = try await send("--b\r\n\(json)\r\n--b\r\nContent-Type: text/x\r\n\r\na\r\n--b\r\nz\r\n--b--")
        #expect(good.status == 200)
        #expect(self.json(good)["contentType"]?.string == "text/x")
        #expect(site.firebase.files.contents(of: "a", in: "demo") == Array("a\r\n--b\r\nz".utf8))
        let ended = try await send("--b\r\n\(json)\r\n--b\r\nContent-Type: text/x\r\n\r\na\r\n--b--\r\n")
        #expect(ended.status == 200)
        for bad in [
            "", "--b--", "--b\r\n\(json)\r\n--b--",
            "--b\r\n\(json)\r\n--b\r\nContent-Type: text/x\r\nX-More: 1\r\n\r\na\r\n--b--",
            "--b\r\nContent-Type: text/x\r\n\r\na\r\n--b\r\n\(json)\r\n--b--",
        ] {
            #expect(try await send(bad).status == 400, "\(bad)")
        }
        await site.stop()
    }

    @Test func `Objects outlive the process in a folder, and go away without one`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("local-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try Site(folder: folder)
        let stored = json(try await first.put("a", "kept"))
        try await first.put("b", "dropped")
        #expect(try await first.send(.delete, "/b").status == 204)
        await first.stop()
        let second = try Site(folder: folder)
        #expect(json(try await second.send(.get, "/a")) == stored)
        #expect(text(try await second.send(.get, "/a?alt=media")) == "kept")
        #expect(try await second.send(.get, "/b").status == 404)
        await second.stop()
    }

    @Test func `No one reads what is public, and nothing else`() async throws {
        let site = try Site()
        try await site.put("public/a", "for all")
        try await site.put("b", "for those who sign in")
        #expect(text(try await site.send(.get, "/public%2Fa?alt=media", as: nil)) == "for all")
        #expect(try await site.send(.get, "/b", as: nil).status == 403)
        #expect(try await site.put("public/c", "x", as: nil).status == 403)
        #expect(try await site.send(.get, "/b", as: "owner").status == 200)
        await site.stop()
        let open = try Site(isOpen: true)
        #expect(try await open.put("users/bob/deep/c", "x", as: nil).status == 200)
        await open.stop()
    }
}
