import Switchyard
import SwitchyardBytes
import SwitchyardMock
import SwitchyardPage
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The page of a local Supabase, and that of any configured backend.
@Suite(
    .enabled(if: OutsideTool.chromium.isInstalled, "\(OutsideTool.chromium.absence)"), .serialized,
    .timeLimit(.minutes(10)))
struct OtherBackendPageTests {
    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `Tables, the policy that decided and the row it was tried with are shown, and buckets are folders`()
        async throws
    {
        let bed = try await PageSupabaseTests.Bed()
        do {
            try await withChromium { browser in
                let tab = try await Tab(browser)
                try await tab.open("\(bed.page.base)/#/supabase/data/orders?q=order+by+title")
                try await tab.waitForText("cake", in: "[role=gridcell]")
                try await tab.waitForText("2 documents", in: ".list-count")
                #expect(try await tab.all("treeitem").map(\.name).contains("orders"))
                // A row is edited as a document is.
                try await tab.click(selector: ".row")
                try await tab.fill("textbox", "Value of title", "cakes")
                try await tab.click("button", "Save the document")
                try await tab.waitForText("cakes", in: "[role=gridcell]")
                try await tab.click("button", "Undo")
                try await eventually("the title is back", within: .seconds(30)) {
                    let rows = try await bed.page.call(
                        .post, "query", ["collection": "orders", "text": "where title = \"cake\""])
                    return rows["documents"]?.array?.count == 1
                }
                // Acting as alice, only her row is left.
                try await tab.evaluate("document.activeElement.blur()")
                try await tab.key("a")
                try await tab.click("radio", "A user What this user sees, with these claims.")
                try await tab.fill("combobox", "User", "alice")
                try await tab.click("button", "Act")
                try await tab.waitForText("1 document", in: ".list-count")
                try await tab.waitForText("tea", in: "[role=gridcell]")
                // Why an insertion was denied.
                try await bed.send(.post, "/rest/v1/orders", as: "alice", ["title": "jam"])
                try await tab.go("#/supabase/requests")
                try await tab.waitForText("denied", in: "[role=gridcell]")
                try await tab.click(selector: ".row.denied")
                try await tab.waitForText("careful", in: ".step-name")
                try await tab.waitForText("false: aal1 and aal2", in: ".operands tr.false")
                try await tab.click(selector: ".step.bad .row-tried summary")
                try await tab.waitForText("\"title\": \"jam\"", in: ".row-tried pre")
                try await tab.screenshot("policy-laptop-light")
                try await tab.go("#/supabase/files")
                try await tab.waitForText("files", in: ".file-row")
                try await tab.go("#/supabase/accounts")
                try await tab.waitForText("accounts", in: ".list-count")
                tab.expectCalm(at: bed.page.base)
            }
        } catch {
            await bed.stop()
            throw error
        }
        await bed.stop()
    }

    @Test func `The page of a configured backend wants its key, which a tab gives to the next`() async throws {
        let infrastructure = try await Infrastructure(MockModule())
        var options = Page.Options()
        options.key = "secret-of-this-page"
        let bed = try PageBed([try await .configured(infrastructure, name: "mock")], options, backend: "configured")
        do {
            try await withChromium { browser in
                let first = try await Tab(browser)
                try await first.send("Page.navigate", ["url": .string(bed.base + "/")])
                try await first.waitForText("This page has a key")
                try await first.fill("textbox", "The address that the command printed, or its key", bed.page.url)
                try await first.click("button", "Open")
                try await first.waitForText("Nothing here yet", in: ".tree")
                #expect(try await first.evaluate("location.href").string?.contains("secret") == false)
                let second = try await Tab(browser)
                try await second.open(bed.base + "/")
                try await bed.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["text": "Hello"]])
                for tab in [first, second] {
                    try await tab.go("#/configured/data/notes")
                    try await tab.waitForText("Hello", in: "[role=gridcell]")
                }
                // What this backend cannot tell is not offered.
                #expect(try await second.text(".rail").contains("Outbox") == false)
                second.expectCalm(at: bed.base)
            }
        } catch {
            await bed.stop()
            throw error
        }
        await bed.stop()
    }
}
