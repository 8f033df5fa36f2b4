import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Items 2 and 3: requests, what decided them, faults, and acting as others.
@Suite(
    .enabled(if: OutsideTool.chromium.isInstalled, "\(OutsideTool.chromium.absence)"), .serialized,
    .timeLimit(.minutes(10)))
struct RequestPageTests {
    private let note = BrowserBed.documents + "/users/alice/notes/a"
    private let one: JSON = ["fields": ["n": ["integerValue": "1"]]]

    @Test func `Requests arrive in the list, with who, what, how long and the rule that decided`() async throws {
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("requests")
            try await tab.waitForText("No requests yet", in: ".grid-blank")
            try await bed.send(.patch, note, as: "alice", one)
            try await tab.waitForText("update users/alice/notes/a", in: "[role=gridcell]")
            try await bed.send(.get, note, as: "bob")
            try await tab.waitForText("denied", in: "[role=gridcell]")
            #expect(
                try await tab.all("columnheader").map(\.name) == [
                    "Time", "Who", "What", "Request", "Rules", "Answer", "Took", "Size",
                ])
            // It is there when it arrives, and has its answer and its time when it is over.
            try await tab.wait(
                "the newest row is whole",
                """
                ['bob', '403', 'ms'].every(text => [...document.querySelectorAll('.row')]
                    .find(row => row.index === 0)?.innerText.includes(text))
                """)
            // Why it was denied: the rule, its line, and what was false.
            try await tab.evaluate("document.querySelector('[role=grid]').focus()")
            try await tab.key("Home")
            try await tab.key("Enter")
            try await tab.waitForText("line 17", in: ".step-source")
            try await tab.waitForText("allow read, write: if isMe(person);", in: ".rule")
            try await tab.waitForText("\"bob\" == \"alice\"", in: ".operands tr.false")
            // The arrows lead to the next one, whose details are there too.
            try await tab.key("ArrowDown")
            try await tab.waitForText("update users/alice/notes/a", in: ".panel h2")
            try await tab.waitForText("allowed", in: ".explanation-head .chip")
            try await tab.waitForText("integerValue", in: "pre.body")
            try await tab.waitForText("updateTime", in: "pre.body")
            #expect(try await tab.text(".panel-body").contains("Bearer ey") == false)
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Details of any request are there, and filters find it`() async throws {
        try await BrowserBed.run { bed in
            try await bed.send(
                .post, BrowserBed.toolkit + ":signUp?key=any", as: nil,
                ["email": "a@example.com", "password": "123456"])
            try await bed.send(
                .post, BrowserBed.toolkit + ":signInWithPassword?key=any", as: nil,
                ["email": "a@example.com", "password": "wrong"])
            try await bed.send(.get, "/v0/b/demo-switchyard.appspot.com/o/users%2Falice%2Fa.txt", as: "bob")
            try await bed.send(.get, "/nowhere", as: nil)
            try await bed.send(.get, note, as: "bob")
            let tab = try await bed.tab("requests")
            try await tab.waitForText("5 requests", in: ".list-count")
            for index in 0..<5 {
                try await tab.evaluate("document.querySelector('[role=grid]').focus()")
                try await tab.key("Home")
                try await tab.key("ArrowDown", times: index)
                try await tab.key("Enter")
                try await tab.wait(
                    "the details are there",
                    "!document.querySelector('.panel').hidden && document.querySelector('.panel .explanation')?.innerText.length > 20 && document.querySelectorAll('.panel .headers').length === 2 && document.querySelector('.panel h2').innerText.length > 3"
                )
                try await tab.key("Escape")
                try await tab.wait("they are closed", "document.querySelector('.panel').hidden")
            }
            try await tab.choose("Answer", "Denied by rules")
            try await tab.wait(
                "only denied ones",
                "[...document.querySelectorAll('.row:not([hidden])')].every(r => r.innerText.includes('denied'))")
            try await tab.choose("Answer", "All answers")
            try await tab.choose("Service", "auth")
            try await tab.waitForText("2 of 5", in: ".list-count")
            try await tab.choose("Service", "All services")
            try await tab.fill("searchbox", "Filter requests", "nowhere")
            try await tab.waitForText("1 of 5", in: ".list-count")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `A request is sent again, the list is paused and cleared`() async throws {
        try await BrowserBed.run { bed in
            try await bed.send(.patch, note, as: "alice", one)
            let tab = try await bed.tab("requests")
            try await tab.waitForText("1 request", in: ".list-count")
            try await tab.click(selector: ".row")
            try await bed.bed.call(.post, "write", ["kind": "delete", "path": "users/alice/notes/a"])
            try await tab.click("button", "Send this request once more")
            try await tab.waitForText("2 requests", in: ".list-count")
            try await bed.eventually("users/alice/notes/a", has: "n", ["integer": 1])
            try await tab.click("button", "Pause the list")
            try await bed.send(.get, note, as: "alice")
            try await tab.waitForText("paused, 1 new one", in: ".list-count")
            try await tab.click("button", "Go on")
            try await tab.waitForText("3 requests", in: ".list-count")
            try await tab.click("button", "Clear the list")
            try await tab.waitForText("0 requests", in: ".list-count")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Faults are added here: refused, late, cut, held and deaf`() async throws {
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("requests")
            try await tab.click("button", "Faults")
            try await tab.choose("Fault", "Refuse")
            try await tab.fill("spinbutton", "Status", "418")
            try await tab.fill("spinbutton", "Times", "1")
            try await tab.click("button", "Add fault")
            try await tab.waitForText("refused with 418", in: ".fault-rules")
            #expect(try await bed.send(.get, note, as: "alice").status == 418)
            try await tab.wait("it has happened", "!document.querySelector('.fault-rules li')")
            try await tab.choose("Fault", "Delay")
            try await tab.fill("spinbutton", "Milliseconds", "400")
            try await tab.fill("spinbutton", "Times", "")
            try await tab.fill("textbox", "Path", "/v1/{rest=**}")
            try await tab.click("button", "Add fault")
            try await tab.waitForText("400 ms late", in: ".fault-rules")
            try await tab.click("button", "Remove the fault: answers 400 ms late")
            try await tab.wait("it is gone", "!document.querySelector('.fault-rules li')")
            try await tab.fill("textbox", "Path", "")
            try await tab.choose("Fault", "Cut")
            try await tab.fill("spinbutton", "After bytes", "10")
            try await tab.click("button", "Add fault")
            try await tab.waitForText("cut after 10 bytes", in: ".fault-rules")
            await #expect(throws: (any Error).self) { try await bed.send(.get, note, as: "alice") }
            try await tab.click("button", "Remove all faults")
            try await tab.wait("all are gone", "!document.querySelector('.fault-rules li')")
            try await tab.choose("Fault", "Hold")
            try await tab.click("button", "Add fault")
            try await tab.waitForText("answers held", in: ".fault-rules")
            async let held = bed.send(.get, note, as: "alice").status
            try await tab.waitForText("1 waiting", in: ".fault-rules")
            try await tab.click("button", "Let pass")
            #expect(try await held == 404)
            try await tab.click("button", "Remove all faults")
            try await tab.click("switch", "Deaf realtime")
            try await eventually("clients are deaf", within: .seconds(20)) {
                try await bed.bed.call(.get, "faults")["isDeaf"] == true
            }
            try await tab.click("switch", "Deaf realtime")
            try await eventually("clients get news again", within: .seconds(20)) {
                try await bed.bed.call(.get, "faults")["isDeaf"] == false
            }
            try await tab.click("button", "Disconnect all")
            try await tab.waitForText("All connections were ended", in: ".toasts")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Acting as someone shows what they see and may do, and why`() async throws {
        try await BrowserBed.run { bed in
            try await bed.write("users/alice/notes/a", ["n": 1])
            try await bed.bed.call(
                .post, "accounts", ["id": "bob", "email": "bob@example.com", "claims": ["team": "red"]])
            let tab = try await bed.tab("data/users/alice/notes/a")
            try await tab.waitForText("1 document", in: ".list-count")
            try await tab.key("a")
            try await tab.click("radio", "Signed out What everyone sees.")
            try await tab.click("button", "Act")
            try await tab.wait("the head says so", "document.querySelector('.acting-name').innerText === 'Signed out'")
            try await tab.wait("the list is denied", "document.querySelector('.grid-blank .wrongbox')")
            // A user of the project, with claims and assurance.
            try await tab.click("button", "Act as: Signed out")
            try await tab.click("radio", "A user What this user sees, with these claims.")
            try await tab.fill("combobox", "User", "bob")
            try await tab.fill("textbox", "Claims", "{broken")
            try await tab.click("button", "Act")
            try await tab.waitForText("The claims are no JSON", in: ".dialog .wrong")
            try await tab.fill("textbox", "Claims", #"{"team": "red"}"#)
            try await tab.choose("Assurance level", "aal2 · two factors")
            try await tab.click("button", "Act")
            try await tab.waitForText("bob", in: ".acting-name")
            try await tab.waitForText("aal2", in: ".acting-level")
            try await tab.waitForText("What bob", in: ".access")
            #expect(try await tab.text(".access").contains("denied"))
            try await tab.click(selector: ".access summary")
            try await tab.waitForText("isMe(person)", in: ".access .rule")
            // What is theirs they see, and may write.
            try await bed.write("users/bob/notes/b", ["n": 2])
            try await tab.go("#/firebase/data/users/bob/notes/b")
            try await tab.fill("textbox", "Value of n", "3")
            try await tab.click("button", "Save the document")
            try await bed.eventually("users/bob/notes/b", has: "n", ["integer": 3])
            #expect(try await tab.text(".access").contains("allowed"))
            // Back.
            try await tab.click("button", "Act as: bob@example.com")
            try await tab.click("radio", "The project The project credential: no rules and no policies apply.")
            try await tab.click("button", "Act")
            try await tab.go("#/firebase/data/users/alice/notes/a")
            try await tab.find("textbox", "Value of n")
            #expect(try await tab.evaluate("document.documentElement.dataset.acting") == "project")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `Where a browser has no shared workers, one tab reads the stream for all, and another after it`()
        async throws
    {
        try await BrowserBed.run { bed in
            var tabs: [Tab] = []
            for _ in 0..<2 {
                let tab = try await Tab(bed.browser)
                try await tab.send("Page.addScriptToEvaluateOnNewDocument", ["source": "delete window.SharedWorker"])
                try await tab.open("\(bed.bed.base)/#/firebase/requests")
                tabs.append(tab)
            }
            try await tabs[1].wait(
                "the second tab is live, too", "document.documentElement.dataset.connection === 'open'")
            try await bed.send(.patch, note, as: "alice", one)
            for tab in tabs { try await tab.waitForText("1 request", in: ".list-count") }
            let streams = tabs.map { tab in tab.requests.count { $0.contains("/api/events") } }
            #expect(streams == [1, 0])
            try await tabs[0].close()
            try await eventually("the other one reads it now", within: .seconds(20)) {
                tabs[1].requests.contains { $0.contains("/api/events") }
            }
            try await bed.send(.get, note, as: "bob")
            try await tabs[1].waitForText("2 requests", in: ".list-count")
            tabs[1].expectCalm(at: bed.bed.base)
        }
    }
}
