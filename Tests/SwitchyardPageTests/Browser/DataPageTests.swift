import SwitchyardBytes
import SwitchyardTestSupport
import Testing

/// Item 1: documents.
@Suite(
    .enabled(if: OutsideTool.chromium.isInstalled, "\(OutsideTool.chromium.absence)"), .serialized,
    .timeLimit(.minutes(10)))
struct DataPageTests {
    private let alice: JSON = [
        "name": "Alice", "age": 36, "score": ["double": 1.5], "isActive": true,
        "joined": ["timestamp": "2026-05-01T09:41:00Z"], "friend": ["reference": ["path": "users/bob"]],
        "settings": ["map": ["theme": "dark", "hours": [22, 7]]],
    ]

    @Test func `Collections are a tree, documents a table that follows what is written`() async throws {
        try await BrowserBed.run { bed in
            try await bed.write("users/alice", alice)
            try await bed.write("users/alice/notes/n1", ["text": "Keys"])
            try await bed.write("cities/ulm", ["name": "Ulm"])
            let tab = try await bed.tab("data/users")
            try await tab.wait(
                "both collections are there", "document.querySelectorAll('[role=treeitem]').length === 2")
            #expect(try await tab.all("treeitem").map(\.name) == ["cities", "users"])
            try await tab.waitForText("Alice", in: "[role=gridcell]")
            #expect(try await tab.all("columnheader").map(\.name).first == "ID")
            #expect(try await tab.has("grid", "Documents"))
            try await tab.wait("the list is live", "!document.querySelector('.list-head .live').hidden")
            // Someone else writes.
            try await bed.write("users/bob", ["name": "Bob", "age": 41])
            try await tab.waitForText("Bob", in: "[role=gridcell]")
            try await tab.waitForText("2 documents", in: ".list-count")
            try await bed.write("users/bob", ["name": "Robert", "age": 41])
            try await tab.waitForText("Robert", in: "[role=gridcell]")
            // A new collection shows in the tree, and below a document those that it has.
            try await tab.click("treeitem", "users")
            try await tab.click(selector: ".row")
            try await tab.waitForText("users/alice/notes", in: ".children")
            try await tab.click("button", "users/alice/notes")
            try await tab.waitForText("Keys", in: "[role=gridcell]")
            #expect(try await tab.all("treeitem").map(\.name) == ["cities", "users", "alice", "notes"])
            // All collections with this name.
            try await bed.write("users/bob/notes/n2", ["text": "Door"])
            try await tab.click("checkbox", "group")
            try await tab.waitForText("users/bob/notes/n2", in: "[role=gridcell]")
            try await tab.waitForText("2 documents", in: ".list-count")
            try await tab.click(selector: ".row")
            try await tab.wait(
                "a note opens beside the list",
                "document.querySelector('[aria-label=\"Value of text\"]')?.value === 'Keys'")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `A document is edited as typed fields and as JSON, and taken back`() async throws {
        try await BrowserBed.run { bed in
            try await bed.write("users/alice", alice)
            let tab = try await bed.tab("data/users/alice")
            try await tab.fill("textbox", "Value of age", "no number")
            try await tab.click("button", "Save the document")
            try await tab.waitForText("a whole number is expected", in: ".toasts")
            try await tab.fill("textbox", "Value of age", "9007199254740993")
            try await tab.key("s", .control)
            try await bed.eventually("users/alice", has: "age", ["integer": 9_007_199_254_740_993])
            // All digits come back.
            try await tab.wait(
                "it is saved",
                "document.querySelector('[aria-label=\"Value of age\"]')?.value === '9007199254740993' && document.querySelector('.panel-foot .primary').disabled"
            )
            // Kinds change, fields come and go.
            try await tab.choose("Kind of score", "text")
            try await tab.click("button", "Remove isActive")
            try await tab.click("button", "Add field")
            try await tab.wait("a new line has the focus", "document.activeElement.matches('.field-name')")
            try await tab.type("city")
            try await tab.evaluate(
                "[...document.querySelectorAll('.field-name')].at(-1).closest('.field-line').querySelector('textarea').focus()"
            )
            try await tab.type("Ulm")
            try await tab.click("button", "Save the document")
            try await bed.eventually("users/alice", has: "city", ["string": "Ulm"])
            let saved = try await bed.document("users/alice")
            #expect(saved?["score"] == ["string": "1.5"])
            #expect(saved?["isActive"] == nil)
            #expect(saved?["settings"]?["map"]?["hours"]?["array"]?.array?.count == 2)
            // As JSON.
            try await tab.click("tab", "JSON")
            let text = try await tab.value("textarea.json")
            #expect(text.contains("\"joined\": {\"timestamp\": \"2026-05-01T09:41:00Z\"}"))
            #expect(text.contains("\"friend\": {\"reference\": {\"path\":\"users/bob\"}}"))
            try await tab.fill("textbox", "The document as JSON", "{\n  \"name\": \"Alice\",\n  \"age\": 1,}")
            try await tab.waitForText("Line 3, column 12", in: "#json-mistake")
            try await tab.fill(
                "textbox", "The document as JSON",
                #"{"name": "Alicia", "weight": 61.0, "at": {"timestamp": "2026-06-01T00:00:00Z"}}"#)
            try await tab.click("button", "Save the document")
            try await bed.eventually("users/alice", has: "weight", ["double": 61.0])
            #expect(try await bed.document("users/alice")?["age"] == nil)
            // Each step can be taken back.
            try await tab.click("button", "Undo")
            try await bed.eventually("users/alice", has: "city", ["string": "Ulm"])
            try await tab.wait("nothing offers it again", "!document.querySelector('.toast[data-undo]')")
            try await tab.evaluate("document.activeElement.blur()")
            try await tab.key("z", .control)
            try await bed.eventually("users/alice", has: "isActive", ["bool": true])
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `What someone else writes does not overwrite an edit`() async throws {
        try await BrowserBed.run { bed in
            try await bed.write("users/alice", alice)
            let tab = try await bed.tab("data/users/alice")
            try await tab.find("textbox", "Value of name")
            try await tab.wait("the list is live", "!document.querySelector('.list-head .live').hidden")
            try await bed.write("users/alice", ["name": "Alice H."])
            try await tab.wait(
                "an untouched form follows",
                "document.querySelector('[aria-label=\"Value of name\"]')?.value === 'Alice H.'")
            try await tab.fill("textbox", "Value of name", "Mine")
            try await bed.write("users/alice", ["name": "Theirs"])
            try await tab.waitForText("has changed on the server", in: ".panel-note")
            #expect(try await tab.value("[aria-label='Value of name']") == "Mine")
            try await tab.click("button", "Show the new one")
            #expect(try await tab.value("[aria-label='Value of name']") == "Theirs")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Queries are those of the command line, and a mistake shows where it is`() async throws {
        try await BrowserBed.run { bed in
            for (id, age, city) in [("a", 20, "Ulm"), ("b", 30, "Bonn"), ("c", 40, "Ulm")] {
                try await bed.write("users/\(id)", ["age": .integer(Int64(age)), "city": .string(city)])
            }
            let tab = try await bed.tab("data/users")
            try await tab.waitForText("3 documents", in: ".list-count")
            try await tab.key("/")
            try await tab.type("where city = \"Ulm\" order by age desc")
            try await tab.key("Enter")
            try await tab.waitForText("2 documents", in: ".list-count")
            #expect(
                try await tab.evaluate(
                    "[...document.querySelectorAll('.row:not([hidden]) .id')].map(e => e.textContent)") == ["c", "a"])
            #expect(
                try await tab.evaluate("document.querySelector('[aria-sort=descending]').innerText").string?.hasPrefix(
                    "age") == true)
            // The heading of a column orders by it.
            try await tab.click(selector: ".grid-head .cell:nth-child(3) .sort")
            try await tab.wait(
                "the query says so", "document.querySelector('#query').value === 'where city = \"Ulm\" order by city'")
            try await tab.fill("textbox", "Filter, order and limit", "where städt >> 3")
            try await tab.key("Enter")
            try await tab.wait("the mistake is marked", "document.querySelector('.mistake mark')")
            // After letters of two bytes, too.
            #expect(
                try await tab.evaluate("document.querySelector('.mistake-place span').textContent").string?.hasPrefix(
                    "where städt >") == true)
            #expect(try await tab.count(".mistake[role=alert]") == 1)
            try await tab.fill("textbox", "Filter, order and limit", "where age > 25 limit 1")
            try await tab.key("Enter")
            try await tab.waitForText("1 document", in: ".list-count")
            try await tab.click("button", "Count the documents of this query")
            try await tab.waitForText("counted in", in: ".toasts")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Documents are added, copied, deleted one by one and together, and brought back`() async throws {
        try await BrowserBed.run { bed in
            for id in ["a", "b", "c"] { try await bed.write("users/\(id)", ["name": .string(id)]) }
            let tab = try await bed.tab("data/users")
            try await tab.waitForText("3 documents", in: ".list-count")
            try await tab.key("n")
            try await tab.fill("textbox", "ID of the new document", "dora")
            try await tab.click("tab", "JSON")
            try await tab.fill("textbox", "The document as JSON", #"{"name": "Dora", "age": 5}"#)
            try await tab.click("button", "Create the document")
            try await bed.eventually("users/dora", has: "age", ["integer": 5])
            try await tab.waitForText("4 documents", in: ".list-count")
            try await tab.click("button", "Copy to a new document")
            try await tab.fill("textbox", "ID of the new document", "dora2")
            try await tab.click("button", "Create the document")
            try await bed.eventually("users/dora2", has: "name", ["string": "Dora"])
            try await tab.click("button", "Delete the document")
            try await eventually("it is gone", within: .seconds(30)) { try await bed.document("users/dora2") == nil }
            try await tab.click("button", "Undo")
            try await bed.eventually("users/dora2", has: "name", ["string": "Dora"])
            // By keys: the first two are marked and deleted.
            try await tab.waitForText("5 documents", in: ".list-count")
            try await tab.evaluate("document.querySelector('[role=grid]').focus()")
            try await tab.key("Home")
            try await tab.key(" ")
            try await tab.key("ArrowDown")
            try await tab.key(" ")
            try await tab.waitForText("2 documents marked", in: ".marks")
            try await tab.key("Delete")
            try await tab.waitForText("3 documents", in: ".list-count")
            try await eventually("both are gone", within: .seconds(30)) {
                let (a, b) = (try await bed.document("users/a"), try await bed.document("users/b"))
                return a == nil && b == nil
            }
            try await tab.waitForText("Deleted 2 documents", in: ".toasts")
            try await tab.key("u")
            try await tab.waitForText("5 documents", in: ".list-count")
            #expect(try await bed.document("users/a") == ["name": ["string": "a"]])
            tab.expectCalm(at: bed.bed.base)
        }
    }
}
