package org.mobilekit.demo.report

import android.content.Intent
import android.os.BatteryManager
import org.junit.Test
import org.mobilekit.demo.support.AppTest
import org.robolectric.shadows.ShadowBuild
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue

class PhoneFactsTest : AppTest() {
    @Test
    fun `a report says which phone it is`() {
        ShadowBuild.setManufacturer("acme")
        ShadowBuild.setModel("Phone 9")
        val device = PhoneFacts(app).device("light")
        assertEquals("Acme Phone 9", device.name)
        assertEquals("Android 14 (API 34)", device.system)
        assertEquals("light", device.thermalBefore)
        assertEquals("none", device.thermalAfter)
        assertTrue(device.cpus >= 1)
        assertTrue(device.processor.isNotEmpty())
    }

    @Test
    fun `a maker that is in the model's name is said once`() {
        ShadowBuild.setManufacturer("acme")
        ShadowBuild.setModel("Acme 9")
        assertEquals("Acme 9", PhoneFacts(app).device(null).name)
    }

    @Test
    fun `battery and charger are told where the phone tells them`() {
        assertNull(PhoneFacts(app).device(null).batteryPercent)
        val battery = Intent(Intent.ACTION_BATTERY_CHANGED)
        battery.putExtra(BatteryManager.EXTRA_LEVEL, 30).putExtra(BatteryManager.EXTRA_SCALE, 40)
        battery.putExtra(BatteryManager.EXTRA_PLUGGED, BatteryManager.BATTERY_PLUGGED_USB)
        @Suppress("DEPRECATION")
        app.sendStickyBroadcast(battery)
        val device = PhoneFacts(app).device(null)
        assertEquals(75.0, device.batteryPercent)
        assertEquals(true, device.charging)
    }

    @Test
    fun `this process has memory of its own`() {
        val memory = assertNotNull(processMemory.read())
        assertTrue(memory.anonymousBytes > 1_000_000)
    }

    @Test
    fun `a phone that is not hot says so`() {
        assertFalse(Heat(app).hot)
        assertEquals("none", Heat(app).status)
    }
}
