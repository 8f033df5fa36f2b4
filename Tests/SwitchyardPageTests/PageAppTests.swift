import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardMock
import SwitchyardPage
import SwitchyardReporting
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The app's own side, as it reports it.
@Suite struct PageAppTests {
    @Test func `A connected app is shown with what it does, to all tabs, until it ends`() async throws {
        var options = Page.Options()
        options.key = "the-key"
        let backend = try await MockBackend().infrastructure(signedInAs: "ada")
        let page = try PageBed([], options, backend: "none")
        let events = try await page.events()
        try backend.report(to: URL(string: page.page.url)!, as: "Notes")
        let reading = Task { for try await _ in backend.storage.snapshots(of: Query(in: "notes")) {} }
        try await events.first("app", "its live query") { app in
            app["name"] == "Notes"
                && app["state"]?["live"]?.array?.contains { $0["target"] == "notes" && $0["state"] == "live" } == true
        }
        let response = try await page.send(.get, "/api/apps")
        let listed = try JSON(parsing: response.body)["apps"]?.array
        #expect(listed?.count == 1 && listed?.first?["name"] == "Notes")
        reading.cancel()
        await backend.shutDown()
        try await events.first("app", "its last word") { $0["state"] == .null }
        let rest = try JSON(parsing: try await page.send(.get, "/api/apps").body)["apps"]?.array
        #expect(rest?.isEmpty == true)
        events.stop()
        await page.stop()
    }

    @Test func `Of very many apps those that were silent longest go, and what is no report is refused`() async throws {
        let page = try PageBed([], backend: "none")
        for number in 0..<40 {
            let report: JSON = ["app": .string("a\(number)"), "name": "App", "since": "now", "state": [:]]
            #expect(try await page.send(.post, "/api/apps", report).status == 204)
        }
        let apps = try JSON(parsing: try await page.send(.get, "/api/apps").body)["apps"]?.array ?? []
        #expect(apps.count == 32 && apps.last?["app"] == "a39")
        for wrong in [[:], ["app": "x"], ["app": "x", "state": 1]] as [JSON] {
            #expect(try await page.send(.post, "/api/apps", wrong).status == 400)
        }
        await page.stop()
    }
}
