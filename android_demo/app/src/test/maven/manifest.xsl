<?xml version="1.0" encoding="UTF-8"?>
<!-- What Android's build does to the manifest of a debug build: names the package, and adds what src/debug has. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:param name="package"/>
  <xsl:param name="debug"/>

  <xsl:template match="@* | node()">
    <xsl:copy><xsl:apply-templates select="@* | node()"/></xsl:copy>
  </xsl:template>

  <xsl:template match="/manifest">
    <xsl:copy>
      <xsl:attribute name="package"><xsl:value-of select="$package"/></xsl:attribute>
      <xsl:apply-templates select="@* | node()"/>
    </xsl:copy>
  </xsl:template>

  <xsl:template match="/manifest/application">
    <xsl:copy>
      <xsl:apply-templates select="@* | node()"/>
      <xsl:copy-of select="document($debug)/manifest/application/node()"/>
    </xsl:copy>
  </xsl:template>
</xsl:stylesheet>
