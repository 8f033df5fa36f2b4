import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// For every person and every screen: keys, a screen reader, light and dark, from a phone to a wide screen.
@Suite(
    .enabled(if: OutsideTool.chromium.isInstalled, "\(OutsideTool.chromium.absence)"), .serialized,
    .timeLimit(.minutes(10)))
struct LooksPageTests {
    private static let views = ["data", "requests", "app", "outbox", "accounts", "files", "messages"]

    /// A little project, with something in each view.
    private func furnish(_ bed: BrowserBed) async throws {
        let people: [(id: String, name: String, city: String, age: Int64)] = [
            ("alice", "Alice Hofmann", "Ulm", 36), ("bob", "Bob Okafor", "Lagos", 41),
            ("carla", "Carla Méndez", "Porto", 29),
            ("dinh", "Dinh Pham", "Lyon", 52), ("elif", "Elif Yıldız", "Graz", 33),
            ("frode", "Frode Nilsen", "Oslo", 47),
        ]
        for (number, person) in people.enumerated() {
            try await bed.write(
                "users/\(person.id)",
                [
                    "name": .string(person.name), "city": .string(person.city), "age": .integer(person.age),
                    "isResponder": .bool(number % 2 == 0),
                    "lastCheckIn": ["timestamp": .string("2026-05-0\(number + 1)T09:41:00Z")],
                    "emergency": ["reference": ["path": "users/bob"]],
                    "settings": ["theme": "dark", "quietHours": [22, 7]],
                ])
            try await bed.write("checkIns/\(person.id)-1", ["user": .string(person.id), "note": "All fine"])
        }
        try await bed.bed.call(
            .post, "accounts",
            ["id": "alice", "email": "alice@example.com", "name": "Alice Hofmann", "claims": ["role": "responder"]])
        try await bed.bed.call(.post, "accounts", ["id": "bob", "email": "bob@example.com", "name": "Bob Okafor"])
        try await bed.send(
            .post, BrowserBed.toolkit + ":sendOobCode?key=any", as: nil,
            ["requestType": "PASSWORD_RESET", "email": "alice@example.com"])
        try await bed.send(
            .post, BrowserBed.toolkit + ":sendVerificationCode?key=any", as: nil, ["phoneNumber": "+4973155501"])
        try await bed.bed.call(
            .post, "messages",
            ["topic": "news", "title": "Check-in missed", "body": "Alice has not checked in since 09:41."])
        let documents = BrowserBed.documents
        let mood: JSON = ["fields": ["mood": ["stringValue": "fine"]]]
        try await bed.send(
            .post, documents + ":runQuery", as: "alice",
            ["structuredQuery": ["from": [["collectionId": "checkIns"]], "limit": 20]])
        for user in ["alice", "carla", "dinh"] {
            try await bed.send(.patch, documents + "/users/\(user)/notes/today", as: user, mood)
            try await bed.send(.get, documents + "/users/\(user)", as: "elif")
            try await bed.send(.get, documents + "/checkIns/\(user)-1", as: nil)
        }
        try await bed.send(.patch, documents + "/users/alice/notes/today", as: "bob", mood)
        _ = try await bed.bed.transport.send(
            HTTPRequest(
                .put, bed.bed.base + "/api/b/firebase/file?path=reports/may.txt",
                body: Array("May: 31 check-ins, one missed.\n".utf8)))
        try await report(bed)
    }

    private func report(_ bed: BrowserBed) async throws {
        _ = try await bed.bed.send(
            .post, "/api/apps",
            [
                "app": "a1b2c3", "name": "LifeSignal",
                "state": [
                    "services": [
                        ["service": "storage", "provider": "firebase"],
                        ["service": "files", "provider": "supabase", "switching": "firebase"],
                    ],
                    "live": [
                        ["target": "users/alice", "state": "live", "documents": 1],
                        [
                            "target": "checkIns where user = \"alice\" order by at desc limit 20", "state": "cached",
                            "documents": 6,
                        ],
                        ["target": "secrets", "state": "failed", "error": "The rules deny it.", "documents": 0],
                    ],
                    "writes": [
                        ["id": "1", "path": "checkIns/alice-2", "kind": "set", "state": "waiting"],
                        [
                            "id": "2", "path": "users/bob", "kind": "update", "state": "refused",
                            "reason": "The rules deny it: isMe(person) was false.",
                        ],
                    ],
                    "transfers": [
                        [
                            "path": "photos/alice.png", "direction": "upload", "done": 640_000, "total": 1_800_000,
                            "state": "running",
                        ]
                    ],
                    "errors": [
                        [
                            "at": "2026-05-01T09:41:00Z", "operation": "update", "target": "users/bob",
                            "message": "Permission denied",
                        ]
                    ],
                    "moves": [],
                ],
            ])
    }

    private func settle(_ view: String, _ tab: Tab) async throws {
        switch view {
        case "data":
            try await tab.go("#/firebase/data/users/alice")
            try await tab.find("textbox", "Value of city")
            try await tab.wait("the list is there", "document.querySelector('.list-count').textContent.startsWith('6')")
        case "requests":
            try await tab.go("#/firebase/requests")
            try await tab.wait("they are there", "document.querySelectorAll('.row').length > 8")
            try await tab.evaluate(
                "location.hash = '#/firebase/requests/' + [...document.querySelectorAll('.row:not([hidden])')].find(r => r.innerText.includes('denied') && r.innerText.includes('notes')).dataset.key"
            )
            try await tab.wait("the explanation is there", "document.querySelector('.step .operands')")
        case "accounts":
            try await tab.go("#/firebase/accounts/alice")
            try await tab.waitForText("alice@example.com", in: ".panel h2")
        case "files":
            try await tab.go("#/firebase/files/reports?file=may.txt")
            try await tab.waitForText("31 check-ins", in: ".preview")
        case "outbox":
            try await tab.go("#/firebase/outbox")
            try await tab.wait("mails are there", "document.querySelectorAll('.card').length > 1")
        case "messages":
            try await tab.go("#/firebase/messages")
            try await tab.waitForText("Check-in missed", in: ".cards")
        default:
            try await tab.go("#/firebase/app")
            try await tab.waitForText("LifeSignal", in: ".list-count")
        }
    }

    /// Where a page gets wider than its screen, and what a screen reader has no name for.
    private static let flaws = """
        (() => {
            const flaws = [];
            if (document.documentElement.scrollWidth > innerWidth) flaws.push('wider than the screen: ' + document.documentElement.scrollWidth);
            for (const part of document.querySelectorAll('.head, .rail, .list-head, .panel-head, .panel-foot')) {
                if (part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1) flaws.push(part.className + ' ends at ' + part.getBoundingClientRect().right);
            }
            for (const control of document.querySelectorAll('button, a')) {
                const box = control.getBoundingClientRect();
                if (control.checkVisibility() && box.width > 0 && box.height < 15) flaws.push('too small to be hit: ' + control.outerHTML.slice(0, 120));
            }
            const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
            for (const id of new Set(ids)) if (ids.filter(other => other === id).length > 1) flaws.push('twice: ' + id);
            return flaws;
        })()
        """

    @Test func `Every view fits a phone and a wide screen, light and dark, and has a name for everything`() async throws
    {
        try await BrowserBed.run { bed in
            try await furnish(bed)
            let screens: [(name: String, width: Int, height: Int)] = [
                ("phone", 360, 740), ("laptop", 1280, 800), ("wide", 1920, 1080),
            ]
            let tab = try await bed.tab()
            for screen in screens {
                try await tab.show(width: screen.width, height: screen.height, isPhone: screen.name == "phone")
                for isDark in [false, true] {
                    try await tab.show(isDark: isDark, isCalm: true)
                    for view in Self.views {
                        try await settle(view, tab)
                        let flaws = try await tab.evaluate(Self.flaws)
                        #expect(flaws == [], "\(view) on a \(screen.name)")
                        for role in [
                            "button", "link", "textbox", "combobox", "checkbox", "searchbox", "switch", "grid",
                            "dialog",
                        ] {
                            let nameless = try await tab.all(role).filter { $0.name.isEmpty }
                            #expect(nameless.isEmpty, "each \(role) in \(view) has a name")
                        }
                        try await tab.screenshot("\(view)-\(screen.name)-\(isDark ? "dark" : "light")")
                    }
                    let ground = try await tab.evaluate("getComputedStyle(document.body).backgroundColor").string
                    #expect(ground == (isDark ? "rgb(19, 22, 21)" : "rgb(244, 243, 239)"))
                }
            }
            for landmark in ["banner", "navigation", "main"] {
                #expect(try await tab.all(landmark).count == 1, "there is a landmark \(landmark)")
            }
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `All is done by keys, which are listed, and letters can be turned off`() async throws {
        try await BrowserBed.run { bed in
            try await furnish(bed)
            let tab = try await bed.tab()
            try await tab.key("?", .shift)
            try await tab.find("dialog", "Keyboard shortcuts")
            #expect(try await tab.text("dialog").contains("Undo (also Control+Z)"))
            try await tab.key("Escape")
            try await tab.wait("it is closed", "!document.querySelector('dialog')")
            for (letter, view) in [
                ("r", "requests"), ("a", "app"), ("o", "outbox"), ("c", "accounts"), ("f", "files"), ("m", "messages"),
                ("d", "data"),
            ] {
                try await tab.key("g")
                try await tab.key(letter)
                try await tab.wait(
                    "\(view) is shown",
                    "document.documentElement.dataset.view === '\(view)' && document.querySelector('.rail [aria-current=page]').dataset.view === '\(view)'"
                )
            }
            // The tree, the table and a document, without a mouse.
            try await tab.wait("the tree is there", "document.querySelectorAll('[role=treeitem]').length === 2")
            try await tab.evaluate("document.querySelector('.tree-item[tabindex=\"0\"]').focus()")
            try await tab.key("End")
            try await tab.key("Enter")
            try await tab.waitForText("Alice Hofmann", in: "[role=gridcell]")
            try await tab.evaluate("document.querySelector('[role=grid]').focus()")
            try await tab.key("Home")
            #expect(
                try await tab.evaluate(
                    "document.querySelector('[role=grid]').getAttribute('aria-activedescendant') !== null") == true)
            try await tab.key("Enter")
            try await tab.find("textbox", "Value of city")
            try await tab.evaluate("document.querySelector('[role=grid]').focus()")
            // From the table, Tab leads into the document; each stop shows that it has the focus.
            for _ in 0..<12 {
                try await tab.key("Tab")
                #expect(
                    try await tab.evaluate(
                        "(() => { const e = document.activeElement; if (e === document.body) return true; const s = getComputedStyle(e); return s.boxShadow !== 'none' || s.outlineStyle !== 'none'; })()"
                    ) == true)
            }
            try await tab.key("Escape")
            try await tab.wait("the document is closed", "document.querySelector('.panel').hidden")
            // Light, dark, as the system.
            for theme in ["light", "dark", "auto"] {
                try await tab.key("t")
                try await tab.wait("it is \(theme)", "document.documentElement.dataset.theme === '\(theme)'")
            }
            try await tab.key("?", .shift)
            try await tab.click("checkbox", "Shortcuts of single letters")
            try await tab.key("Escape")
            try await tab.key("t")
            #expect(try await tab.evaluate("document.documentElement.dataset.theme") == "auto")
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `The connected app shows its services, live queries, writes, transfers and errors as they go`()
        async throws
    {
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("app")
            try await tab.waitForText("No app is connected")
            try await report(bed)
            try await tab.waitForText("LifeSignal", in: ".list-count")
            for (card, text) in [
                ("Services", "switching to firebase"), ("Live queries", "cached"), ("Writes", "isMe(person) was false"),
                ("Transfers", "640 kB of 1.8 MB"), ("Last errors", "Permission denied"),
            ] { try await tab.waitForText(text, in: "[aria-label='\(card)']") }
            tab.expectCalm(at: bed.bed.base)
        }
    }

    @Test func `A list of apps that was read before an app reported does not hide it`() async throws {
        try await BrowserBed.run { bed in
            let tab = try await bed.tab("data")
            try await tab.wait("the stream is open", "document.documentElement.dataset.connection === 'open'")
            // The answer to the view's read is there, but the view gets it later.
            try await tab.evaluate(
                """
                window.held = 0;
                window.plain = window.fetch;
                window.fetch = async (...call) => {
                    const answer = await window.plain(...call);
                    if (!String(call[0]).includes('/api/apps')) return answer;
                    window.held += 1;
                    await new Promise(done => { window.release = done; });
                    return answer;
                };
                location.hash = '#/firebase/app';
                """)
            try await tab.wait("the answer is held", "window.held === 1")
            try await report(bed)
            try await tab.waitForText("LifeSignal", in: ".list-count")
            try await tab.evaluate(
                """
                (async () => {
                    window.fetch = window.plain;
                    window.release();
                    await (await fetch('/api/apps')).text();
                    for (let turn = 0; turn < 5; turn += 1) await new Promise(requestAnimationFrame);
                })()
                """)
            #expect(try await tab.text(".list-count").contains("LifeSignal"))
            tab.expectCalm(at: bed.bed.base)
        }
    }
}
