import Foundation
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Items 4 and 5: the outbox, accounts, files and messages; and the reset of item 7.
@Suite(
    .enabled(if: OutsideTool.chromium.isInstalled, "\(OutsideTool.chromium.absence)"), .serialized,
    .timeLimit(.minutes(10)))
struct ToolsPageTests {
    private let signUp: JSON = ["email": "a@example.com", "password": "123456"]

    @Test func `Mails and text messages are in the outbox, and their links work`() async throws {
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("outbox")
            let other = try await bed.tab("data")
            try await tab.waitForText("Nothing was sent yet")
            try await bed.send(.post, BrowserBed.toolkit + ":signUp?key=any", as: nil, signUp)
            try await bed.send(
                .post, BrowserBed.toolkit + ":sendOobCode?key=any", as: nil,
                ["requestType": "PASSWORD_RESET", "email": "a@example.com"])
            try await bed.send(
                .post, BrowserBed.toolkit + ":sendVerificationCode?key=any", as: nil, ["phoneNumber": "+15550100"])
            try await tab.waitForText("2 messages", in: ".list-count")
            try await tab.waitForText("a@example.com", in: ".card")
            try await other.wait(
                "another view says that something came",
                "document.querySelector('[data-badge=outbox]').innerText === '2'")
            #expect(try await tab.evaluate("document.querySelector('.card .code').innerText").string?.count == 6)
            try await tab.evaluate(
                "[...document.querySelectorAll('.card')].find(c => c.innerText.includes('a@example.com')).click()")
            try await tab.wait("the link is there", "document.querySelector('.panel a.link')")
            let link = try await tab.evaluate("document.querySelector('.panel a.link').href").string ?? ""
            #expect(link.hasPrefix("http://\(bed.firebase.host)/"))
            #expect(try await bed.bed.transport.send(HTTPRequest(.get, link + "&newPassword=654321")).status == 200)
            #expect(
                try await bed.send(
                    .post, BrowserBed.toolkit + ":signInWithPassword?key=any", as: nil,
                    ["email": "a@example.com", "password": "654321"]
                ).status == 200)
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Accounts are added, disabled, given claims, and deleted`() async throws {
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("accounts")
            try await tab.waitForText("No accounts yet")
            try await tab.key("n")
            try await tab.fill("textbox", "Email address", "carla@example.com")
            try await tab.fill("textbox", "Password", "secret1")
            try await tab.fill("textbox", "Name", "Carla")
            try await tab.click("button", "Add")
            try await tab.waitForText("carla@example.com", in: ".panel h2")
            // Someone else's sign-up shows by itself.
            try await bed.send(.post, BrowserBed.toolkit + ":signUp?key=any", as: nil, signUp)
            try await tab.waitForText("2 accounts", in: ".list-count")
            let sign: JSON = ["email": "carla@example.com", "password": "secret1"]
            #expect(
                try await bed.send(.post, BrowserBed.toolkit + ":signInWithPassword?key=any", as: nil, sign).status
                    == 200)
            try await tab.click("switch", "Disabled: cannot sign in")
            try await tab.waitForText("disabled", in: "[role=gridcell]")
            #expect(
                try await bed.send(.post, BrowserBed.toolkit + ":signInWithPassword?key=any", as: nil, sign).status
                    == 400)
            try await tab.click("button", "Undo")
            try await eventually("it is enabled again", within: .seconds(20)) {
                try await bed.send(.post, BrowserBed.toolkit + ":signInWithPassword?key=any", as: nil, sign).status
                    == 200
            }
            try await tab.fill("textbox", "Claims as JSON", #"{"role": "editor"}"#)
            try await tab.click("button", "Save claims")
            try await tab.waitForText("editor", in: "[role=gridcell]")
            try await tab.click("button", "End all sessions")
            try await tab.waitForText("All sessions ended", in: ".toasts")
            try await tab.fill("searchbox", "Filter accounts", "carla")
            try await tab.wait("one is left", "document.querySelectorAll('.row:not([hidden])').length === 1")
            try await tab.click("button", "Act as")
            try await tab.waitForText("carla@example.com", in: ".acting-name")
            try await tab.click("button", "Delete the account")
            try await tab.click("button", "Delete")
            try await tab.waitForText("1 account", in: ".list-count")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Files are uploaded with progress, shown, deleted and brought back`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("page-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = folder.appendingPathComponent("hello.txt")
        try Data("Hello, files.\n".utf8).write(to: text)
        let image = folder.appendingPathComponent("point.png")
        try Data(
            Base64.decode(
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
                ?? []
        ).write(to: image)
        let large = folder.appendingPathComponent("large.bin")
        try Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0) }).write(to: large)
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("files/photos")
            try await tab.waitForText("No files here")
            try await tab.evaluate(
                "window.steps = new Set(); new MutationObserver(() => document.querySelectorAll('progress').forEach(p => window.steps.add(p.value))).observe(document.body, {subtree: true, childList: true, characterData: true})"
            )
            try await tab.choose(files: [text.path, image.path, large.path], selector: "#file-chooser")
            try await tab.waitForText("3 files", in: ".list-count")
            #expect(try await tab.evaluate("window.steps.size").int ?? 0 >= 2, "progress is shown")
            try await tab.wait("the uploads are done", "document.querySelector('.uploads').hidden")
            try await tab.click(selector: "[data-name='hello.txt']")
            try await tab.waitForText("Hello, files.", in: ".preview")
            try await tab.click(selector: "[data-name='point.png']")
            try await tab.wait("the picture is there", "document.querySelector('.preview img')?.naturalWidth === 1")
            try await tab.click(selector: "[data-name='large.bin']")
            try await tab.waitForText("00 01 02 03", in: ".preview")
            try await tab.click(selector: "[data-name='hello.txt']")
            try await tab.waitForText("Hello, files.", in: ".preview")
            try await tab.click("button", "Delete the file")
            try await tab.waitForText("2 files", in: ".list-count")
            try await tab.click("button", "Undo")
            try await tab.waitForText("3 files", in: ".list-count")
            let back = try await bed.bed.send(.get, "/api/b/firebase/file?path=photos/hello.txt")
            #expect(String(decoding: back.body, as: UTF8.self) == "Hello, files.\n")
            // The tree of folders.
            try await tab.click("button", "All files")
            try await tab.waitForText("1 folder", in: ".list-count")
            try await tab.click(selector: ".file-row")
            try await tab.waitForText("3 files", in: ".list-count")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `A message is written, and it is said who received it`() async throws {
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("messages")
            try await tab.click("button", "Send")
            try await tab.waitForText("To whom?", in: ".wrong")
            try await tab.fill("textbox", "Which", "news")
            try await tab.fill("textbox", "Title", "Hello")
            try await tab.fill("textbox", "Text", "All is well.")
            try await tab.fill("textbox", "Data", "{broken")
            try await tab.click("button", "Send")
            try await tab.waitForText("no JSON", in: ".wrong")
            try await tab.fill("textbox", "Data", #"{"kind": "greeting"}"#)
            try await tab.click("button", "Send")
            try await tab.waitForText("All is well.", in: ".cards")
            try await tab.waitForText("received by no one", in: ".cards")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `A project is empty again at once, in all tabs`() async throws {
        try await BrowserBed.run { bed in
            try await bed.fill("people", count: 2000)
            let tabs = [try await bed.tab("data/people"), try await bed.tab("data/people")]
            for tab in tabs { try await tab.waitForText("2\u{202F}000 documents", in: ".list-count") }
            try await tabs[0].click("button", "More")
            try await tabs[0].click("menuitem", "Reset demo-switchyard…")
            try await tabs[0].click("button", "Reset")
            try await tabs[0].waitForText("Reset in", in: ".toasts")
            for tab in tabs {
                try await tab.waitForText("0 documents", in: ".list-count")
                tab.expectCalm(at: bed.bed.base)
            }
        }
    }
}
