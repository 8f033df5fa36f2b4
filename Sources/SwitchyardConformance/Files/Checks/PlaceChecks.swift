import Foundation
import Switchyard

extension FileConformance {
    static let listChecks: [FileCheck] = [
        FileCheck("a list has the files and folders of a folder, sorted") { context in
            for name in ["b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "other/e.txt"] {
                try await context.client.put(Data(name.utf8), at: context.path(name))
            }
            let list = try await context.client.list(context.folder)
            try expectEqual(list.files.map(\.path), try ["a.txt", "b.txt"].map { try context.path($0) }, "the files")
            try expectEqual(list.folders.sorted(), try ["other", "sub"].map { try context.path($0) }, "the folders")
            try expectEqual(list.files.first?.size, 5, "the size of the first")
            let inner = try await context.client.list(context.path("sub"))
            try expectEqual(inner.files.map(\.path), [try context.path("sub/c.txt")], "the files further down")
            try expectEqual(inner.folders, [try context.path("sub/deep")], "the folders further down")
        },
        FileCheck("a folder without files is empty") { context in
            let list = try await context.client.list(context.path("nothing"))
            try expect(
                list.files.isEmpty && list.folders.isEmpty && list.nextPage == nil, "there is nothing",
                found: "something")
        },
        FileCheck("a folder's name is no prefix of others") { context in
            try await context.client.put(Data("1".utf8), at: context.path("sub/a"))
            try await context.client.put(Data("2".utf8), at: context.path("subway/b"))
            let list = try await context.client.list(context.path("sub"))
            try expectEqual(list.files.map(\.path.name), ["a"], "the files")
        },
        FileCheck("pages together have every file once") { context in
            for index in 0..<11 { try await context.client.put(Data("x".utf8), at: context.path("f\(10 + index)")) }
            var found: [String] = []
            var page: String?
            var pages = 0
            repeat {
                let list = try await context.client.list(context.folder, pageSize: 4, page: page)
                try expect(list.files.count <= 4, "a page has at most four files", found: "\(list.files.count)")
                found += list.files.map(\.path.name)
                page = list.nextPage
                pages += 1
            } while page != nil && pages < 20
            try expectEqual(found, (0..<11).map { "f\(10 + $0)" }, "the files on all pages")
        },
        FileCheck("a deleted file is gone, from the list too") { context in
            let path = try context.path("a.txt")
            try await context.client.put(Data("x".utf8), at: path)
            try await context.client.delete(path)
            try await context.expectMissing(path)
            try expectEqual(try await context.client.list(context.folder).files.count, 0, "the number of files")
        },
        FileCheck("what is not there cannot be deleted") { context in
            try await context.expectFailure(.notFound, in: "deleting it") {
                try await context.client.delete(context.path("missing"))
            }
        },
    ].within("lists")

    static let placeChecks: [FileCheck] = [
        FileCheck("a copy is a file of its own", needs: .copyAndMove) { context in
            let (one, two) = (try context.path("one.txt"), try context.path("further/two.txt"))
            try await context.client.put(Data("first".utf8), at: one, options: UploadOptions(contentType: "text/x-own"))
            let copy = try await context.client.copy(one, to: two)
            try expectEqual(copy.path, two, "the path of the copy")
            try expectEqual(copy.contentType, "text/x-own", "its kind of contents")
            try await context.client.put(Data("changed".utf8), at: one)
            try await context.expect(two, holds: Data("first".utf8))
            try await context.expect(one, holds: Data("changed".utf8))
        },
        FileCheck("a moved file is where it went, and nowhere else", needs: .copyAndMove) { context in
            let (one, two) = (try context.path("one.txt"), try context.path("two.txt"))
            try await context.client.put(Data("contents".utf8), at: one)
            let moved = try await context.client.move(one, to: two)
            try expectEqual(moved.path, two, "the path")
            try await context.expect(two, holds: Data("contents".utf8))
            try await context.expectMissing(one)
        },
        FileCheck("what is not there can be neither copied nor moved", needs: .copyAndMove) { context in
            let (one, two) = (try context.path("missing"), try context.path("two"))
            try await context.expectFailure(.notFound, in: "copying") { try await context.client.copy(one, to: two) }
            try await context.expectFailure(.notFound, in: "moving") { try await context.client.move(one, to: two) }
            try await context.expectMissing(two)
        },
        FileCheck("an address without an end leads to the file", needs: .permanentURLs, .fetching) { context in
            let path = try context.path("a b&c.txt")
            try await context.client.put(Data("for all".utf8), at: path)
            let url = try await context.client.downloadURL(of: path, expiresIn: nil)
            try expectEqual(try await context.harness.fetch(url), Data("for all".utf8), "what anybody gets")
        },
        FileCheck("an address that expires leads to the file until then", needs: .expiringURLs, .fetching) { context in
            let path = try context.path("a.txt")
            try await context.client.put(Data("for a while".utf8), at: path)
            let url = try await context.client.downloadURL(of: path, expiresIn: .seconds(3600))
            try expectEqual(try await context.harness.fetch(url), Data("for a while".utf8), "what anybody gets")
        },
        FileCheck("an address leads nowhere once the file is gone", needs: .permanentURLs, .fetching) { context in
            let path = try context.path("a.txt")
            try await context.client.put(Data("x".utf8), at: path)
            let url = try await context.client.downloadURL(of: path, expiresIn: nil)
            try await context.client.delete(path)
            try expectEqual(try await context.harness.fetch(url), nil, "what anybody gets")
        },
        FileCheck("what is not there has no address", needs: .expiringURLs) { context in
            try await context.expectFailure(.notFound, in: "asking for it") {
                try await context.client.downloadURL(of: context.path("missing"), expiresIn: .seconds(60))
            }
        },
        FileCheck("names hold what they may, or are refused at once") { context in
            for name in [
                "with space.txt", "ünïcode.txt", "plus+percent%.txt", "q?uery#frag&x=y.txt", "😀.png", "(a)[b]'c.txt",
                "a..b",
            ] {
                let path = try context.path(name)
                do {
                    try await context.client.put(Data(name.utf8), at: path)
                } catch let error as FileStorageError where error.code == .invalidArgument {
                    continue
                }
                try await context.expect(path, holds: Data(name.utf8))
                let listed = try await context.client.list(context.folder).files.map(\.path)
                try expect(listed.contains(path), "“\(name)” is listed", found: "\(listed.map(\.name))")
            }
        },
        FileCheck("what is no path is refused") { context in
            for text in ["", "/a", "a/", "a//b", "a/./b", "a/../b", "..", "a\nb", String(repeating: "x", count: 1025)] {
                try await context.expectFailure(.invalidArgument, in: "a path like this") {
                    try FilePath(validating: text)
                }
            }
        },
        FileCheck("a value that is no segment makes a path that every operation refuses") { context in
            let victim = try context.path("victim")
            try await context.client.put(Data("x".utf8), at: victim)
            for value in ["", "a/b", "../victim", "/victim", ".", "..", "a\nb"] {
                let path: FilePath = "\(context.folder)/\(value)"
                try expect(!path.isValid, "“\(path)” is not valid", found: "it is")
                try await context.expectFailure(.invalidArgument, in: "an upload to “\(path)”") {
                    try await context.client.put(Data(), at: path)
                }
                try await context.expectFailure(.invalidArgument, in: "a read of “\(path)”") {
                    try await context.client.data(at: path)
                }
                try await context.expectFailure(.invalidArgument, in: "the bytes of “\(path)”") {
                    for try await _ in context.client.bytes(of: path) {}
                }
                try await context.expectFailure(.invalidArgument, in: "what is known of “\(path)”") {
                    try await context.client.metadata(of: path)
                }
                try await context.expectFailure(.invalidArgument, in: "a list of “\(path)”") {
                    try await context.client.list(path)
                }
                try await context.expectFailure(.invalidArgument, in: "a deletion of “\(path)”") {
                    try await context.client.delete(path)
                }
            }
            try await context.expect(victim, holds: Data("x".utf8))
        },
    ].within("places")

    static let refusalChecks: [FileCheck] = [
        refusal(of: .ranges, "ranges") { context, path in
            _ = try await context.client.data(at: path, range: 0..<1, limit: 10)
        },
        refusal(of: .customMetadata, "notes of the app's own") { context, path in
            try await context.client.put(Data(), at: path, options: UploadOptions(custom: ["a": "b"]))
        },
        refusal(of: .copyAndMove, "copying") { context, path in
            _ = try await context.client.copy(path, to: try context.path("other"))
        },
        refusal(of: .copyAndMove, "moving") { context, path in
            _ = try await context.client.move(path, to: try context.path("other"))
        },
        refusal(of: .expiringURLs, "addresses that expire") { context, path in
            _ = try await context.client.downloadURL(of: path, expiresIn: .seconds(60))
        },
        refusal(of: .permanentURLs, "addresses without an end") { context, path in
            _ = try await context.client.downloadURL(of: path, expiresIn: nil)
        },
        refusal(of: .unbounded, "uploads without a known length") { context, path in
            let faucet = ControlledUpload()
            faucet.close()
            _ = try await context.client.upload(faucet.source(length: nil), to: path).result()
        },
        refusal(of: .resumable, "going on with an upload") { context, _ in
            _ = try await context.client.resumeUpload("some").result()
        },
    ].within("refusals")

    private static func refusal(
        of requirement: FileRequirement, _ what: String,
        _ body: @escaping @Sendable (FileContext, FilePath) async throws -> Void
    ) -> FileCheck {
        FileCheck("\(what): refused where it is not declared", needs: .no(requirement)) { context in
            let path = try context.path("a.txt")
            try await context.client.put(Data("x".utf8), at: path)
            try await expectRefusal(
                .unsupported, as: FileStorageError.self, of: "File storage", by: context.client.provider, "the call"
            ) { try await body(context, path) }
        }
    }

    static let careChecks: [FileCheck] = [
        FileCheck("the client has the capabilities that the harness declares") { context in
            try expectEqual(context.client.capabilities, context.features.capabilities, "the client's capabilities")
            try expect(!context.client.provider.rawValue.isEmpty, "the provider has a name", found: "an empty one")
        },
        FileCheck("after the end every call is refused as such") { context in
            let path = try context.path("a.txt")
            let device = try await context.device()
            try await device.put(Data("x".utf8), at: path)
            await device.shutDown()
            await device.shutDown()
            try await context.expectFailure(.shutDown, in: "reading") { try await device.data(at: path) }
            try await context.expectFailure(.shutDown, in: "writing") { try await device.put(Data("y".utf8), at: path) }
            try await context.expect(path, holds: Data("x".utf8))
        },
        FileCheck("a cancelled read ends as cancelled, or with its result") { context in
            let path = try context.path("a.bin")
            try await context.client.put(context.bytes(400_000), at: path)
            for _ in 0..<6 {
                let task = Task { try await context.client.data(at: path) }
                task.cancel()
                do {
                    try expectEqual(try await task.value.count, 400_000, "the number of bytes")
                } catch let error as FileStorageError {
                    try expectEqual(error.code, .cancelled, "the error's code")
                }
            }
        },
        FileCheck("a client can be found in itself") { context in
            func find<Client: FileStorageClient>(_ client: Client) -> Bool { client.unwrapped(as: Client.self) != nil }
            try expect(find(context.client), "the client unwraps to its own type", found: "nothing")
        },
    ].within("care")
}
